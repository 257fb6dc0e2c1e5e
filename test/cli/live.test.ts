/** product section 1, `run` on a terminal: each call's name, elapsed time against its deadline, outcome; section 5, escapes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { CallTree } from "../../src/cli/run/CallTree.ts"
import { escapeText } from "../../src/cli/run/escapeText.ts"
import { liveView } from "../../src/cli/run/LiveView.ts"
import { Region, type Size } from "../../src/cli/run/Region.ts"
import { beganText, endedText, liveLines, timeText } from "../../src/cli/run/rowText.ts"
import { styleOf } from "../../src/cli/run/Style.ts"
import { read } from "../../src/client/AgentEvent.ts"
import type { TurnEvent } from "../../src/client/TurnEvents.ts"
import type { EventName } from "../../src/protocol/Event.ts"
import type { JsonObject } from "../../src/protocol/Json.ts"

const plainStyle = { ...styleOf({ NO_COLOR: "1", LANG: "C" }), spinner: ["|"] }
const SECOND = 1_000_000_000n
const ofRun = { session_id: "s", run_id: "r" }

/** An event as it is read from the wire. */
const event = (name: EventName, data: JsonObject, at = 0n): TurnEvent => {
  const decoded = read({ bytes: 0, instanceId: "i", sequence: 1, at, event: name, data: { ...ofRun, ...data } })
  assert.strictEqual(decoded._tag, "Event", `${name} is no event of the protocol`)
  return decoded
}

const started = (id: string, name: string, parent: string | null = null, task: string | null = null, kind = "tool") =>
  event("activity.started", {
    activity_id: id,
    parent_id: parent,
    kind: kind === "subagent" ? "subagent" : "tool",
    name,
    task_id: task
  })

const called = (id: string, name: string, task: string | null = null, timeoutMs = 30_000) =>
  event("client.tool.call", {
    call_id: id,
    task_id: task,
    subagent_id: task,
    name,
    arguments: {},
    timeout_ms: timeoutMs
  })

const finished = (id: string, status: "success" | "failure" | "cancelled", code: string | null = null, at = 0n) =>
  event("activity.finished", { activity_id: id, status, call_id: null, code }, at)

const reply = (callId: string, status: "success" | "error", at: bigint): TurnEvent => ({
  _tag: "Reply",
  callId,
  status,
  at
})

describe("calls", () => {
  it("show their name, the deadline, the outcome and how long they took", () => {
    const tree = new CallTree()
    const began = tree.take(called("c", "client__x"))
    assert.strictEqual(began && beganText(began.row), "client__x: started, 30 s at most")
    const change = tree.take(reply("c", "error", SECOND / 4n))
    assert.strictEqual(change?._tag, "Ended")
    assert.strictEqual(change && endedText(change.row), "client__x: error after 250 ms")
    assert.lengthOf(tree.takeEnded(), 1)
    assert.lengthOf(tree.roots, 0)
    assert.isUndefined(tree.take(reply("c", "error", 0n)))
  })
  it("a client tool's row begins with its call; one that was refused before it is told all the same", () => {
    const tree = new CallTree()
    assert.isUndefined(tree.take(started("a", "client__x")))
    assert.isTrue(tree.roots[0]?.waits)
    assert.strictEqual(tree.take(called("c", "client__x"))?._tag, "Began")
    assert.lengthOf(tree.roots, 1)
    assert.isFalse(tree.roots[0]?.waits)
    tree.take(started("b", "client__x"))
    const change = tree.take(finished("b", "failure", "client_tool_invalid_arguments"))
    assert.strictEqual(change && endedText(change.row), "client__x: failure (client_tool_invalid_arguments) after 0 ms")
  })
  it("a reply that came too late is told as what the agent made of it", () => {
    const tree = new CallTree()
    tree.take(started("a", "client__x"))
    tree.take(called("c", "client__x"))
    tree.take(reply("c", "success", SECOND))
    assert.deepInclude(tree.take(finished("a", "failure", "client_tool_timeout")), {
      _tag: "Overruled",
      outcome: "failure (client_tool_timeout)"
    })
    tree.take(started("b", "client__x"))
    tree.take(called("d", "client__x"))
    tree.take(reply("d", "success", SECOND))
    assert.isUndefined(tree.take(finished("b", "success")))
  })
  it("those of subagents stand under them, and stay until what they belong to is over", () => {
    const tree = new CallTree()
    tree.take(started("s", "subagents"))
    tree.take(started("s1", "subagent", "s", "t1", "subagent"))
    tree.take(started("s2", "subagent", "s", "t2", "subagent"))
    tree.take(started("a", "client__x", "s2", "t2"))
    tree.take(started("b", "client__x", "s1", "t1"))
    tree.take(called("c1", "client__x", "t1"))
    tree.take(called("c2", "client__x", "t2"))
    tree.take(reply("c2", "success", SECOND))
    tree.take(finished("s2", "success", null, 2n * SECOND))
    assert.lengthOf(tree.takeEnded(), 0)
    assert.deepStrictEqual(liveLines(tree.roots, 2n * SECOND, { columns: 80, rows: 24 }, plainStyle), [
      "  | subagents      2 s",
      "    | subagent 1   2 s",
      "      | client__x  #...................  2 s of 30 s",
      "    + subagent 2: success after 2 s",
      "      + client__x: success after 1 s"
    ])
    tree.endAll(3n * SECOND, "not finished")
    assert.lengthOf(tree.takeEnded(), 1)
  })
  it("more of them than there are rows are counted; on a narrow terminal there is no bar", () => {
    const tree = new CallTree()
    for (let at = 0; at < 16; at += 1) tree.take(called(`c${at}`, "client__lookup"))
    const lines = liveLines(tree.roots, SECOND, { columns: 80, rows: 10 }, plainStyle)
    assert.lengthOf(lines, 8)
    assert.strictEqual(lines.at(-1), "    ... and 9 more")
    for (const columns of [80, 59, 44, 20]) {
      for (const line of liveLines(tree.roots, SECOND, { columns, rows: 40 }, plainStyle)) {
        assert.isBelow(line.length, columns, line)
      }
    }
  })
  it("times are short", () => {
    assert.deepStrictEqual([0, 999, 1000, 30_000, 60_000, 125_000].map(timeText), [
      "0 ms",
      "999 ms",
      "1 s",
      "30 s",
      "1 min",
      "2 min 5 s"
    ])
  })
})

describe("the style", () => {
  it("has no colours under NO_COLOR, no signs beyond ASCII outside of a UTF-8 locale, and both elsewhere", () => {
    const all = (env: { readonly [name: string]: string }) => {
      const { bad, bar, cancelled, good, more, paint, spinner, waiting } = styleOf(env)
      return [good, bad, cancelled, waiting, more, ...spinner, ...bar, paint("good", "x")].join("")
    }
    assert.match(all({ NO_COLOR: "1", LANG: "C" }), /^[\x20-\x7e]+$/)
    assert.match(all({ NO_COLOR: "1" }), /^[\x20-\x7e]+$/)
    assert.match(all({ NO_COLOR: "1", LANG: "en_GB.UTF-8", LC_ALL: "C" }), /^[\x20-\x7e]+$/)
    assert.include(all({ NO_COLOR: "", LANG: "C" }), "\u001b[32mx")
    assert.notInclude(all({ NO_COLOR: "1", LANG: "en_GB.UTF-8" }), "\u001b")
    assert.include(all({ LANG: "en_GB.utf8" }), "✓")
  })
})

/** A terminal that knows what the region uses: lines, erase from the cursor on, up, and to show or hide the cursor. */
const makeScreen = (size: Size = { columns: 80, rows: 20 }) => {
  const lines = [""]
  let [row, column] = [0, 0]
  let cursor = true
  const put = (text: string) => {
    for (const token of text.match(/\u001b\[[?0-9]*[A-Za-z]|[\s\S]/gu) ?? []) {
      const line = lines[row] ?? ""
      if (token === "\n") {
        row += 1
        column = 0
        lines[row] ??= ""
      } else if (token === "\r") column = 0
      else if (token === "\u001b[J") lines.splice(row, lines.length, line.slice(0, column))
      else if (token === "\u001b[K") lines[row] = line.slice(0, column)
      else if (token === "\u001b[C") column += 1
      else if (token === "\u001b[?25l") cursor = false
      else if (token === "\u001b[?25h") cursor = true
      else if (/^\u001b\[\d+A$/.test(token)) row -= Number.parseInt(token.slice(2), 10)
      else if (!token.startsWith("\u001b")) {
        lines[row] = line.slice(0, column) + token + line.slice(column + 1)
        column += 1
      }
    }
  }
  const region = new Region(put, () => size)
  const out = {
    isTerminal: true,
    raw: (text: string) => region.print(text),
    foreign: (text: string) => region.print(escapeText(text)),
    ready: Effect.void,
    flushed: Effect.void,
    gone: Effect.never
  }
  return { region, out, text: () => lines.join("\n").replace(/\n+$/, ""), cursor: () => cursor }
}

describe("the lines at the end of a terminal", () => {
  it("stay below what is written, are drawn in place, and go when there are none", () => {
    const { cursor, region, text } = makeScreen()
    region.print("half a line")
    region.draw(["one", "two", "three"])
    assert.strictEqual(text(), "half a line\none\ntwo\nthree")
    assert.isFalse(cursor())
    region.draw(["1", "2"])
    assert.strictEqual(text(), "half a line\n1\n2")
    region.printLine("a whole line")
    region.print("half")
    assert.strictEqual(text(), "half a line\na whole line\nhalf\n1\n2")
    region.draw([])
    assert.strictEqual(text(), "half a line\na whole line\nhalf")
    assert.isTrue(cursor())
  })
  it("are never more than the terminal has rows for", () => {
    const { region, text } = makeScreen({ columns: 20, rows: 4 })
    region.draw(["1", "2", "3", "4", "5"])
    assert.strictEqual(text(), "1\n2\n3")
  })
  it("give way to a question; what is written meanwhile comes after its answer", () => {
    const { cursor, region, text } = makeScreen()
    region.print("text")
    region.draw(["row"])
    const { release, say } = region.hold()
    assert.isTrue(cursor())
    region.printLine("told meanwhile")
    region.draw(["another row"])
    say("Allow? ")
    assert.strictEqual(text(), "text\nAllow? ")
    release(false)
    assert.strictEqual(text(), "text\nAllow? \ntold meanwhile\nanother row")
    assert.isFalse(cursor())
  })
  it("end with nothing lost and the cursor shown, also while a question is open, and may end twice", () => {
    const { cursor, region, text } = makeScreen()
    region.draw(["row"])
    const { release, say } = region.hold()
    say("Allow? ")
    region.printLine("told meanwhile")
    region.close()
    region.close()
    release(false)
    say("no more")
    assert.strictEqual(text(), "Allow? \ntold meanwhile")
    assert.isTrue(cursor())
  })
})

describe("the live view", () => {
  const said = (message_id: string, text: string) => event("message.reconcile", { message_id, part: 0, parts: 1, text })

  it("draws open calls below the text and leaves a line for each that ended", () => {
    const { cursor, out, region, text } = makeScreen()
    let now = 0n
    const view = liveView({ region, style: plainStyle, out, now: () => now })
    view.event(said("a", "I look \u001b[2Jit up."))
    view.event(called("c", "client__x"))
    now = 15n * SECOND
    view.draw()
    assert.strictEqual(text(), "I look \\u001b[2Jit up.\n  | client__x  ##########..........  15 s of 30 s")
    view.event(reply("c", "success", 16n * SECOND))
    view.event(said("b", "Found."))
    view.end({ status: "completed", error: undefined, text: "Found." })
    view.line("magi-code run: a last line")
    assert.strictEqual(
      text(),
      "I look \\u001b[2Jit up.\n  + client__x: success after 16 s\n\nFound.\nmagi-code run: a last line"
    )
    assert.isTrue(cursor())
  })
  it("says what is waited for where no call is open, and never in the middle of a message", () => {
    const { out, region, text } = makeScreen()
    let now = 0n
    const view = liveView({ region, style: plainStyle, out, now: () => now })
    now = SECOND
    view.draw()
    assert.strictEqual(text(), "  | starting the agent  1 s")
    view.event(event("run.started", { provider: "p", model: "m" }))
    now = 2n * SECOND
    view.draw()
    assert.strictEqual(text(), "  | waiting for the model  1 s")
    view.event(event("message.delta", { message_id: "a", text: "half a " }))
    now = 9n * SECOND
    view.draw()
    view.event(event("message.delta", { message_id: "a", text: "sentence" }))
    assert.strictEqual(text(), "half a sentence")
    view.end({ status: "cancelled", error: undefined, text: "" })
    assert.strictEqual(text(), "half a sentence")
  })
  it("what did not end is told at the end", () => {
    const { out, region, text } = makeScreen()
    const view = liveView({ region, style: plainStyle, out, now: () => SECOND })
    view.event(called("c", "client__x\u202e"))
    view.end({ status: "failed", error: undefined, text: "" })
    assert.strictEqual(text(), "  x client__x\\u202e: not finished after 1 s")
  })
})
