/** The page of `trace --html` in a real browser: a thousand calls, zoom, details, keys, a phone's width. */
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { chromium } from "playwright-core"
import { htmlPage } from "../../src/cli/trace/htmlPage.ts"
import { folder, manyCalls } from "./support.ts"

const executablePath = "/usr/bin/chromium"

describe("the page in a browser", () => {
  it("shows 1,000 calls, zooms, opens details, and runs nothing that a name holds", async (context) => {
    if (!existsSync(executablePath)) return context.skip(`there is no ${executablePath} here`)
    const path = join(folder(), "page.html")
    writeFileSync(path, htmlPage(manyCalls(1_000, "</script><img src=x onerror=alert(1)>\u202e")))
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
      const wrong: Array<string> = []
      page.on("pageerror", (error) => wrong.push(error.message))
      page.on("console", (message) => wrong.push(message.text()))
      page.on("dialog", (dialog) => {
        wrong.push("a dialog")
        void dialog.dismiss()
      })
      page.on("request", (request) => {
        if (!request.url().startsWith("file:")) wrong.push(request.url())
      })
      await page.goto(pathToFileURL(path).href)
      assert.strictEqual(await page.locator("main button.row").count(), 1_000)
      assert.strictEqual(await page.locator("img").count(), 0)

      const bar = page.locator("main button.row .bar").first()
      const before = (await bar.boundingBox())?.width ?? 0
      for (let times = 0; times < 3; times += 1) await page.click("#in")
      const first = page.locator("main button.row").first()
      await page.click("#left", { clickCount: 4 })
      assert.isAbove((await bar.boundingBox())?.width ?? 0, before)

      await first.focus()
      await page.keyboard.press("Enter")
      assert.isTrue(await page.locator("#details").isVisible())
      assert.include(await page.locator("#facts").textContent(), "Deadline")
      assert.include(await page.locator("#name").textContent(), "\\u202e")
      await page.keyboard.press("ArrowDown")
      assert.strictEqual(await page.locator("[aria-expanded=true]").count(), 1)
      assert.strictEqual(await first.getAttribute("aria-expanded"), "false")
      await page.keyboard.press("Escape")
      assert.isFalse(await page.locator("#details").isVisible())

      await page.click("#all")
      const whole = (await bar.boundingBox())?.width ?? 0
      const chart = await page.locator("#chart").boundingBox()
      assert.isNotNull(chart)
      const y = (chart?.y ?? 0) + 10
      const x = (part: number) => (chart?.x ?? 0) + (chart?.width ?? 0) * part
      await page.mouse.move(x(0), y)
      await page.mouse.down()
      await page.mouse.move(x(0.25), y)
      await page.mouse.up()
      assert.closeTo(((await bar.boundingBox())?.width ?? 0) / Math.max(whole, 4), 4, 1.5)

      await page.keyboard.press("/")
      assert.strictEqual(await page.evaluate("document.activeElement.id"), "filter")
      await page.fill("#filter", "deadline task-3")
      const shown = await page.locator("main button.row:visible").count()
      assert.isAbove(shown, 0)
      assert.isBelow(shown, 1_000)

      await page.setViewportSize({ width: 390, height: 800 })
      const wide = await page.locator("html").evaluate((html) => html.scrollWidth)
      assert.isAtMost(wide, 390)
      assert.deepStrictEqual(wrong, [])
    } finally {
      await browser.close()
    }
  }, 90_000)
})
