/**
 * Screenshots of the page of `magi-code trace --html`, at 1280 and 390 px, light and dark, into a folder
 * (default: `dist/screenshots`): of a run that is really made, with one call opened, and of 1,000 calls. Needs a build, and
 * Chromium; CHROMIUM names another one than /usr/bin/chromium.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { chromium } from "playwright-core"
import { fromRunFile } from "../src/cli/trace/fromRunFile.ts"
import { htmlPage } from "../src/cli/trace/htmlPage.ts"
import { manyCalls } from "../test/cli/support.ts"
import { runDemo } from "./demo.ts"

const folder = resolve(process.argv[2] ?? "dist/screenshots")
mkdirSync(folder, { recursive: true })
const pages = [
  ["trace", htmlPage(fromRunFile("run.jsonl", await runDemo()))],
  ["many", htmlPage(manyCalls(1_000))]
] as const

const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"]
})
try {
  for (const [name, html] of pages) {
    const file = join(folder, `${name}.html`)
    writeFileSync(file, html)
    for (const width of [1280, 390]) {
      for (const colorScheme of ["light", "dark"] as const) {
        const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
        await page.goto(pathToFileURL(file).href)
        await page.locator("main button.row").nth(3).click()
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) })
        await page.close()
      }
    }
  }
} finally {
  await browser.close()
}
