/**
 * The export itself, loaded when it is configured: the exporters of `effect`, behind a tracer that lets nothing out but what
 * is known to be harmless. docs/security.md: arguments, results and secrets are in no attribute.
 */
import { ConfigProvider, Context, Effect, Exit, Layer, Scope, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpExporter, OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"
import { bounded } from "./Bounded.ts"
import { FLUSH_MS, TelemetryFlush } from "./TelemetryFlush.ts"
import { version } from "./Version.ts"

/** Attributes that leave the process; they are ids, names and words of our own. Any other (a URL, a prompt) stays. */
const allowed: ReadonlySet<string> = new Set([
  "call_id",
  "model",
  "run_id",
  "session_id",
  "status",
  "surface",
  "task_id",
  "tool"
])

/** A failure by its name alone: messages and stacks may repeat what a tool or a provider said. */
class Failure extends Error {
  constructor(name: string) {
    super(name)
    this.name = name
    this.stack = name
  }
}

const nameOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string"
    ? error._tag
    : "Error"

const withoutDetails = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit)) return Exit.void
  if (Exit.hasInterrupts(exit)) return Exit.interrupt()
  const error = Exit.findErrorOption(exit)
  return Exit.die(new Failure(error._tag === "Some" ? nameOf(error.value) : "Defect"))
}

/** Spans of this tracer give the exporter's own their allowed attributes; events (log lines among them) are dropped. */
export const discreet = (inner: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = inner.span(options)
      const attribute = span.attribute.bind(span)
      const end = span.end.bind(span)
      span.attribute = (key, value) => {
        if (allowed.has(key)) attribute(key, value)
      }
      span.event = () => {}
      span.end = (time, exit) => end(time, withoutDetails(exit))
      return span
    }
  })

/** An endpoint alone is enough: `otlp` is the standard's own default, which the layers of `effect` do not have. */
const withDefaults = (env: Readonly<Record<string, string | undefined>>): Record<string, string> => {
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", ...Object.fromEntries(given) }
}

const layer = Effect.sync(() => {
  const resource = { serviceName: process.env["OTEL_SERVICE_NAME"] ?? "magi-code", serviceVersion: version }
  return Layer.mergeAll(OtlpTracer.layerFromConfig({ resource }), OtlpMetrics.layerFromConfig({ resource })).pipe(
    Layer.provideMerge(OtlpExporter.layerFlusher),
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: withDefaults(process.env) }))),
    Layer.provide(FetchHttpClient.layer)
  )
}).pipe(Layer.unwrap)

/** `traced` of `Telemetry`, where it is configured. Settings that cannot be used are a warning, never the end. */
export const exported = <A, E, R>(program: Effect.Effect<A, E, R>, lastMillis: number): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const built = yield* Effect.exit(Layer.buildWithScope(layer, scope))
    if (Exit.isFailure(built)) {
      yield* Effect.logWarning("traces and metrics are not exported: a variable OTEL_… has a value that cannot be used")
      return yield* Effect.ensuring(program, Scope.close(scope, Exit.void))
    }
    const { flush } = Context.get(built.value, OtlpExporter.Flusher)
    return yield* program.pipe(
      Effect.provideService(Tracer.Tracer, discreet(Context.get(built.value, Tracer.Tracer))),
      Effect.provideService(TelemetryFlush, Effect.asVoid(bounded(flush, FLUSH_MS))),
      Effect.ensuring(bounded(Scope.close(scope, Exit.void), lastMillis))
    )
  })
