/** Why settings are not taken. base-protocol section 8; product section 2. */
import { Data } from "effect"

/**
 * `message` is one line for a person: it names the file, says what is wrong and, where it can, what to do. It holds no
 * value of the settings. `path` is a JSON Pointer into the file at fault, `""` for all of it.
 */
export class ConfigurationError extends Data.TaggedError("ConfigurationError")<{
  readonly code: "configuration_invalid" | "configuration_untrusted"
  readonly message: string
  readonly path: string
}> {}

/** The two settings files and the record of trust, as messages name them. */
export type FileName = "$MC_HOME/settings.json" | ".magi-code/settings.json" | "$MC_HOME/trust.json"

export const invalid = (file: FileName, path: string, message: string): ConfigurationError =>
  new ConfigurationError({ code: "configuration_invalid", path, message: `${file}: ${message}` })

export const untrusted = (path: string, message: string): ConfigurationError =>
  new ConfigurationError({
    code: "configuration_untrusted",
    path,
    message: `.magi-code/settings.json: ${message}; run "magi-code trust" to trust this file`
  })
