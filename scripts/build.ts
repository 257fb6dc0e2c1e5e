/**
 * Builds dist/: the binary (a guard and two bundles), the workers, and the library with its types.
 *
 * - `serve.js` has everything in it, `effect` included: a spawned agent starts in a fraction of the time. Providers, MCP,
 *   QuickJS and secretlint are loaded when used, from chunks of their own.
 * - `main.js` (all other commands) keeps `effect` external: a tools file and the runner must share one copy.
 * - `lib/` is the library as modules; its imports of `effect` are made deep, so that it loads only what it uses.
 */
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type BuildOptions, build, type Plugin } from "esbuild"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const at = (...parts: Array<string>) => join(root, ...parts)
const { version }: { version: string } = JSON.parse(readFileSync(at("package.json"), "utf8"))

/** `import { Effect, Option as O } from "effect"` becomes one namespace import a module: only those are loaded. */
const deepen = (source: string): string =>
  source.replaceAll(
    /^import (type )?\{([^}]*)\} from "(effect|effect\/(?:ai|cli|testing|observability|process|schema))";?$/gm,
    (_, type: string | undefined, names: string, from: string) =>
      names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "" && !name.startsWith("type "))
        .map((name) => {
          const [imported = "", local = imported] = name.split(/\s+as\s+/)
          return `import ${type ?? ""}* as ${local} from "${from}/${imported}"`
        })
        .join("\n")
  )

const deepImports: Plugin = {
  name: "deep-imports",
  setup: (context) => {
    context.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      contents: deepen(readFileSync(path, "utf8")),
      loader: "ts"
    }))
  }
}

const shared: BuildOptions = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node22",
  define: { MAGI_CODE_VERSION: JSON.stringify(version) },
  legalComments: "none",
  logLevel: "warning",
  // Packages in CommonJS ask for `require` of Node's own modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
  }
}

rmSync(at("dist"), { recursive: true, force: true })
mkdirSync(at("dist"), { recursive: true })

await build({
  ...shared,
  banner: {},
  bundle: false,
  target: "es2020",
  entryPoints: [at("src/cli/cli.ts")],
  outfile: at("dist/cli.js")
})
chmodSync(at("dist/cli.js"), 0o755)

await build({
  ...shared,
  plugins: [deepImports],
  splitting: true,
  minifySyntax: true,
  entryPoints: { serve: at("src/cli/serve/main.ts") },
  chunkNames: "serve/[name]-[hash]",
  external: ["@vscode/ripgrep"],
  outdir: at("dist")
})

await build({
  ...shared,
  plugins: [deepImports],
  splitting: true,
  // One copy of effect for a tools file and its runner; tsx finds its own files; ripgrep is a program.
  external: ["effect", "effect/*", "tsx", "tsx/*", "@vscode/ripgrep"],
  entryPoints: { main: at("src/cli/main.ts") },
  chunkNames: "commands/[name]-[hash]",
  outdir: at("dist")
})

/** Every `*Worker.ts` of src/ is an entry of its own, at dist/workers/NAME.js (see platform/workerUrl.ts). */
const workers = readdirSync(at("src"), { recursive: true, encoding: "utf8" }).filter((file) => /Worker\.ts$/.test(file))
if (workers.length > 0) {
  await build({
    ...shared,
    plugins: [deepImports],
    entryPoints: workers.map((file) => at("src", file)),
    entryNames: "[name]",
    outdir: at("dist/workers")
  })
}

// The hook and the MCP server that backends start for conformance cases (src/conformance/children/childFile.ts).
await build({
  ...shared,
  banner: {},
  entryPoints: ["hook", "mcpServer"].map((name) => at(`src/conformance/children/${name}.ts`)),
  outdir: at("dist/conformance")
})

// Code Mode's engine: the worker takes its WebAssembly from the file beside it.
copyFileSync(
  at("node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm"),
  at("dist/workers/emscripten-module.wasm")
)

const tsc = spawnSync(process.execPath, [at("node_modules/typescript/bin/tsc"), "-p", at("tsconfig.build.json")], {
  stdio: "inherit"
})
if (tsc.status !== 0) process.exit(tsc.status ?? 1)
for (const file of readdirSync(at("dist/lib"), { recursive: true, encoding: "utf8" })) {
  if (!file.endsWith(".js")) continue
  const path = at("dist/lib", file)
  writeFileSync(path, deepen(readFileSync(path, "utf8")))
}
if (!existsSync(at("dist/serve.js"))) throw new Error("the build made no serve.js")
