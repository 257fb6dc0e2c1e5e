/**
 * Mutation testing of the broker and of what it stands on, by hand-made mutants: each is a mistake somebody could make.
 *
 *     node scripts/mutants.ts [--only WORD]
 *
 * Works in a copy of the checkout. A mutant is killed when the tests that name its file fail. Prints a line each and a
 * summary; exits 1 below 90% or when a mutant's text is not found (the list must follow the code).
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { mutants } from "./mutants.list.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const only = process.argv[process.argv.indexOf("--only") + 1]
const copy = mkdtempSync(join(tmpdir(), "mutants-"))
for (const entry of ["src", "test", "package.json", "tsconfig.json", "vitest.config.ts"]) {
  cpSync(join(root, entry), join(copy, entry), { recursive: true })
}
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))

const chosen = process.argv.includes("--only")
  ? mutants.filter((one) => JSON.stringify(one).includes(only ?? ""))
  : mutants
let killed = 0
let judged = 0
let lost = 0
try {
  for (const [index, mutant] of chosen.entries()) {
    const path = join(copy, mutant.file)
    const text = readFileSync(path, "utf8")
    const name = `${index + 1}. ${mutant.file}: ${mutant.mistake}`
    if (text.split(mutant.find).length !== 2) {
      lost += 1
      console.log(`LOST      ${name}`)
      continue
    }
    writeFileSync(
      path,
      text.replace(mutant.find, () => mutant.replace)
    )
    const run = spawnSync(
      process.execPath,
      ["node_modules/vitest/vitest.mjs", "run", "--bail", "1", "--maxWorkers", "2", ...mutant.tests],
      { cwd: copy, stdio: "ignore", timeout: 120_000 }
    )
    writeFileSync(path, text)
    if (mutant.equivalent !== undefined) {
      console.log(`${run.status === 0 ? "EQUIVALENT" : "KILLED    "} ${name} (${mutant.equivalent})`)
      continue
    }
    judged += 1
    if (run.status !== 0) killed += 1
    console.log(`${run.status === 0 ? "SURVIVED  " : "killed    "} ${name}`)
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
const share = judged === 0 ? 0 : killed / judged
console.log(
  `${killed} of ${judged} killed (${Math.round(share * 100)}%), ${chosen.length - judged - lost} equivalent, ${lost} lost`
)
process.exitCode = share >= 0.9 && lost === 0 ? 0 : 1
