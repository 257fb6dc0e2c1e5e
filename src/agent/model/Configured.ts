/** Whether a provider has what it needs before anything is asked of it (`provider_unconfigured`, base-protocol section 8). */
import { Redacted } from "effect"
import type { ProviderSettings } from "../../settings/Settings.ts"

// What an HTTP header can carry without quoting. A key outside of it would end up inside fetch's own error message.
const headerSafe = /^[\x21-\x7e]+$/

/**
 * What the provider lacks, for a person, without any value; `undefined` when nothing is missing. To be asked for the
 * selected provider at initialize, and again by a provider when it is made. Reads no environment: settings did that.
 */
export const checkConfigured = (provider: ProviderSettings): string | undefined => {
  if (provider.kind === "offline") return undefined
  if (provider.api_key_env === null) {
    // A server of one's own may want no key; the public endpoints all do.
    return provider.base_url === null ? "it needs a key: name its variable in api_key_env" : undefined
  }
  const key = provider.api_key === null ? "" : Redacted.value(provider.api_key)
  if (key === "") return `its key is missing: set the environment variable ${provider.api_key_env}`
  if (!headerSafe.test(key)) {
    return `the environment variable ${provider.api_key_env} holds something that is not a key (white space, controls or non-ASCII)`
  }
  return undefined
}
