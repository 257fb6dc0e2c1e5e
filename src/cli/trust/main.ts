/** `magi-code trust [--revoke]`: what of a workspace's settings needs trust, and the record of it. product section 1. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { trustStatus } from "../../settings/loadSettings.ts"
import { recordTrust, revokeTrust } from "../../settings/Trust.ts"
import { CommandFailed, UsageError } from "../help/errors.ts"
import { placeOf } from "../help/place.ts"
import type { Args } from "../help/readArgs.ts"
import { runEffect } from "../help/runEffect.ts"
import { canAsk, confirm, err, out, plain } from "../help/Terminal.ts"

export const trust = async (args: Args): Promise<number> => {
  if (args.words.length > 0) throw new UsageError("it is about the current directory and takes no arguments")
  const place = placeOf(process.env)
  if (args.values.has("revoke")) {
    const had = await runEffect(revokeTrust({ home: place.home, workspace: place.workspace }))
    out(had ? `${plain(place.workspace)} is no longer trusted\n` : `${plain(place.workspace)} was not trusted\n`)
    return 0
  }
  const { needs, sha256, trusted, workspace } = await runEffect(trustStatus(place))
  const file = join(workspace, ".magi-code", "settings.json")
  if (sha256 === undefined) {
    out("this workspace has no settings of its own: nothing needs trust\n")
    return 0
  }
  if (needs.length === 0) {
    out(`${plain(file)} only tightens: nothing needs trust\n`)
    return 0
  }
  out(`workspace  ${plain(workspace)}\nfile       ${plain(file)}\nSHA-256    ${sha256}\n\n`)
  out(`${trusted ? "Trusted" : "Needs trust"}:\n${needs.map(({ message }) => `  ${plain(message)}\n`).join("")}`)
  if (trusted) {
    out("\nThese settings are in force. magi-code trust --revoke takes the trust away.\n")
    return 0
  }
  if (!canAsk()) throw new CommandFailed("trust is only given on a terminal: run magi-code trust there and answer")
  err(
    `\n${contentsOf(file, sha256)}\nCommands and addresses in it are used as they are, with your rights and your keys.\n`
  )
  if (!(await confirm("Trust exactly this file?"))) {
    err("nothing was recorded\n")
    return 1
  }
  await runEffect(recordTrust({ home: place.home, workspace, sha256 }))
  out("Recorded. Any change of the file needs trust again.\n")
  return 0
}

/** The file as it will be trusted: nobody should agree to what they have not seen. */
const contentsOf = (file: string, sha256: string): string => {
  const bytes = readFileSync(file)
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
    throw new CommandFailed(`${plain(file)} was changed while it was shown; run magi-code trust again`)
  }
  return bytes
    .toString("utf8")
    .split("\n")
    .map((line) => `  | ${plain(line)}`)
    .join("\n")
}
