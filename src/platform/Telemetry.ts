/**
 * Traces and metrics over OTLP, where the standard variables ask for it (`OTEL_EXPORTER_OTLP_ENDPOINT` and its relatives).
 * Nothing of it is loaded otherwise. product section 4 ("OTLP when configured"); docs/operations.md, Traces and metrics.
 */
import { Effect, Layer } from "effect"
import { FLUSH_MS, TelemetryFlush } from "./TelemetryFlush.ts"

const endpoints = ["", "TRACES_", "METRICS_"].map((signal) => `OTEL_EXPORTER_OTLP_${signal}ENDPOINT`)

/** Whether the variables name an endpoint and do not switch everything off. */
export const isConfigured = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env["OTEL_SDK_DISABLED"]?.toLowerCase() !== "true" && endpoints.some((name) => (env[name] ?? "") !== "")

/**
 * Runs a program whose spans and metrics are exported, if that is configured. When it has ended, what is left is sent for at
 * most `lastMillis`. A collector that is not there costs that time and nothing else.
 */
export const traced = <A, E, R>(program: Effect.Effect<A, E, R>, lastMillis = FLUSH_MS): Effect.Effect<A, E, R> =>
  Effect.suspend(() =>
    isConfigured(process.env)
      ? Effect.flatMap(
          Effect.promise(() => import("./TelemetryExport.ts")),
          ({ exported }) => exported(program, lastMillis)
        )
      : program
  )

/** A start-up whose backend sends what was gathered when all of it has been closed, within the budget of closing. */
export const flushedAfter =
  <In, A, E, R>(startup: (input: In) => Layer.Layer<A, E, R>) =>
  (input: In): Layer.Layer<A, E, R> =>
    Layer.provide(
      startup(input),
      Layer.effectDiscard(Effect.flatMap(TelemetryFlush, (flush) => Effect.addFinalizer(() => flush)))
    )
