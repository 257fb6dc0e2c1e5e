/** The programs in README.md: the TypeScript compiles against the built library, and the tools file can be registered. */
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fromUnknown } from "../../src/client/PlainTools.ts"
import { fences, pages, root } from "./pages.ts"

const readme = pages[0]?.text ?? ""

// In dist/, so that "magi-code" is this package by its own name, as it is for others.
const folder = join(root, "dist", "readme")

const write = (name: string, text: string): string => {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe("README.md", () => {
  it("compiles", { timeout: 60_000 }, () => {
    const programs = fences(readme, "ts")
    assert.isAbove(programs.length, 0)
    rmSync(folder, { recursive: true, force: true })
    for (const [at, text] of programs.entries()) write(`program-${at}.ts`, text)
    const config = write(
      "tsconfig.json",
      JSON.stringify({ extends: "../../tsconfig.json", compilerOptions: { types: ["node"] }, include: ["*.ts"] })
    )
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc")
    try {
      execFileSync(process.execPath, [tsc, "-p", config, "--noEmit"], { encoding: "utf8", stdio: "pipe" })
    } catch (error) {
      assert.fail(error instanceof Error && "stdout" in error ? String(error.stdout) : String(error))
    }
  })

  it.effect("has a tools file that can be registered", () =>
    Effect.gen(function* () {
      const [text] = fences(readme, "js")
      const path = write("tools.mjs", text ?? "")
      const file: { readonly default: ReadonlyArray<unknown> } = yield* Effect.promise(
        () => import(/* @vite-ignore */ pathToFileURL(path).href)
      )
      const { tools } = yield* fromUnknown(file.default)
      assert.deepStrictEqual(
        tools.map((tool) => tool.descriptor.name),
        ["client__word_count"]
      )
    })
  )
})
