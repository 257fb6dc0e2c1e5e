/**
 * The programs that the pages show. TypeScript compiles against the built library: the blocks of one section are one program,
 * `./tools.ts` is examples/tools.ts. README.md's tools file can be registered.
 */
import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fromUnknown } from "../../src/client/PlainTools.ts"
import { doc, fences, pages, programsOf, root } from "./pages.ts"

// In dist/, so that "magi-code" is this package by its own name, as it is for others.
const folder = join(root, "dist", "readme")

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
})

describe("the pages' programs", () => {
  it("are there", () => {
    assert.isAbove(programsOf(pages[0]?.text ?? "").length, 0)
    assert.isAbove(programsOf(doc("library.md").text).length, 2)
  })

  it("compile", { timeout: 60_000 }, () => {
    copyFileSync(join(root, "examples", "tools.ts"), join(folder, "tools.ts"))
    for (const page of pages) {
      const name = page.path.replaceAll("/", "-").replace(/\.md$/, "")
      for (const { section, text } of programsOf(page.text)) {
        write(`${name}-${section}.ts`, text)
      }
    }
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
})

describe("README.md", () => {
  it.effect("has a tools file that can be registered", () =>
    Effect.gen(function* () {
      const [text] = fences(pages[0]?.text ?? "", "js")
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
