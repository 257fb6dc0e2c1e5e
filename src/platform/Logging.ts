/**
 * Logs go to stderr and nowhere else: stdout belongs to the protocol. Lines of JSON, or lines for people where stderr is a
 * terminal; the level comes from MC_LOG.
 *
 * base-protocol section 1 ("logs and diagnostics go to stderr; when the transport has failed nothing more is written
 * anywhere"); product section 2 (`serve` takes its log level from MC_LOG).
 */
import { Effect, Layer, Logger, type LogLevel, References } from "effect"
import { annotationOf, causeOf, formatJson, formatPretty, type LogEntry, messageOf } from "./LogFormat.ts"

const levels: ReadonlyMap<string, LogLevel.LogLevel> = new Map([
  ["all", "All"],
  ["trace", "Trace"],
  ["debug", "Debug"],
  ["info", "Info"],
  ["warn", "Warn"],
  ["warning", "Warn"],
  ["error", "Error"],
  ["fatal", "Fatal"],
  ["none", "None"],
  ["off", "None"]
])

/** What is logged when MC_LOG says nothing: a parent need not read stderr for a normal run. */
const DEFAULT_LEVEL: LogLevel.LogLevel = "Warn"

/** Bytes that may wait for whoever reads stderr. What comes beyond them is dropped and counted: nobody waits for a log. */
export const LOG_BACKLOG_BYTES = 262_144

/** The level of a name, in any case; `undefined` for one that is unknown. */
export const parseLevel = (name: string): LogLevel.LogLevel | undefined => levels.get(name.trim().toLowerCase())

/** Where lines go: `false` when they could not be taken. */
export type WriteLine = (line: string) => boolean

export interface LoggingOptions {
  readonly level: LogLevel.LogLevel
  readonly style: "json" | "pretty"
  readonly write: WriteLine
}

/** Replaces all loggers. */
export const layerWith = ({ level, style, write }: LoggingOptions): Layer.Layer<never> => {
  let dropped = 0
  const format = style === "json" ? formatJson : formatPretty
  const put = (entry: LogEntry): void => {
    if (
      dropped > 0 &&
      write(format({ ...entry, level: "warn", message: "log lines were dropped", annotations: { dropped }, cause: [] }))
    ) {
      dropped = 0
    }
    if (dropped > 0 || !write(format(entry))) dropped += 1
  }
  const logger = Logger.make(({ cause, date, fiber, logLevel, message }) => {
    const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
    put({
      time: date.toISOString(),
      level: logLevel.toLowerCase(),
      message: messageOf(message),
      annotations: Object.fromEntries(annotations.map(([name, value]) => [name, annotationOf(value)])),
      cause: causeOf(cause)
    })
  })
  return Layer.mergeAll(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, level))
}

let silenced = false

/** From now on this process writes nothing more to stderr through its logs: the transport has failed. */
export const silence: Effect.Effect<void> = Effect.sync(() => {
  silenced = true
})

let guarded = false

const toStderr: WriteLine = (line) => {
  const { stderr } = process
  if (silenced || stderr.destroyed) return true
  if (!guarded) {
    // Whoever reads stderr may be gone. That is no reason to fail.
    stderr.on("error", () => {})
    guarded = true
  }
  if (stderr.writableLength > LOG_BACKLOG_BYTES) return false
  stderr.write(`${line}\n`)
  return true
}

/** The logs of this process: to stderr, with the level of MC_LOG. An unknown level is said once and taken for the default. */
export const layer: Layer.Layer<never> = Layer.unwrap(
  Effect.sync(() => {
    const name = process.env["MC_LOG"] ?? ""
    const level = name.trim() === "" ? DEFAULT_LEVEL : parseLevel(name)
    const logging = layerWith({
      level: level ?? DEFAULT_LEVEL,
      style: process.stderr.isTTY === true ? "pretty" : "json",
      write: toStderr
    })
    if (level !== undefined) return logging
    const unknown = Effect.logWarning(`MC_LOG is no level: use one of ${[...levels.keys()].join(", ")}`)
    return Layer.provideMerge(Layer.effectDiscard(unknown), logging)
  })
)
