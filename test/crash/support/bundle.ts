/** Bundles the dying backend as the product is bundled; its other workers are those that `npm test` built. */
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, type Scope } from "effect"
import { build } from "esbuild"
import { temporary } from "../../store/support.ts"

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** A folder with `dyingBackend.mjs` and its worker, gone when the scope closes. */
export const bundled: Effect.Effect<string, never, Scope.Scope> = Effect.tap(temporary, (folder) =>
  Effect.promise(async () => {
    symlinkSync(source("../../../dist/workers"), join(folder, "workers"))
    await build({
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      target: "node22",
      logLevel: "silent",
      define: { MAGI_CODE_VERSION: '"test"' },
      external: ["@vscode/ripgrep"],
      // Packages in CommonJS ask for `require` of Node's own modules.
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      entryPoints: [source("../children/dyingBackend.ts"), source("../children/dyingWorker.ts")],
      outdir: folder,
      outExtension: { ".js": ".mjs" }
    })
  })
)
