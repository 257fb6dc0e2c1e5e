/** Where a command looks: `MC_HOME`, and the current directory as the workspace. base-protocol section 1. */
import { realpathSync } from "node:fs"
import { homedir } from "node:os"
import { join, resolve } from "node:path"

export const placeOf = (env: { readonly [name: string]: string | undefined }) => ({
  home: resolve(env["MC_HOME"] || join(homedir(), ".magi-code")),
  workspace: realpathSync(process.cwd()),
  env
})
