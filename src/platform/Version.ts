/** The package's version, written into the bundles at build time and read from package.json when run from source. */
import { readFileSync } from "node:fs"

declare const MAGI_CODE_VERSION: string | undefined

const fromPackage = (): string => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8")
  const parsed: { readonly version?: unknown } = JSON.parse(text)
  return typeof parsed.version === "string" ? parsed.version : "0.0.0"
}

export const version: string = typeof MAGI_CODE_VERSION === "string" ? MAGI_CODE_VERSION : fromPackage()
