/** base-protocol section 3, Closing: child processes are gone, grandchildren included. Real processes throughout. */
import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { type ChildCommand, Children, SpawnFailed } from "../../src/platform/Children.ts"
import { carriers, sweep, withMarks } from "../../src/platform/Marks.ts"
import { statNow } from "../../src/platform/ProcFs.ts"

const alive = (pid: number) => {
  const stat = statNow(pid)
  return stat !== undefined && stat.state !== "Z" && stat.state !== "X"
}

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "mc-children-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const text = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => Buffer.concat([...chunks]).toString())

const layer = (home: string, more: Partial<Parameters<typeof Children.layer>[0]> = {}) =>
  Children.layer({ mark: `test-${home.replaceAll("/", ".")}`, home, secretEnv: new Set(), ...more })

/** The service, open until the test ends. */
const open = (home: string, more: Partial<Parameters<typeof Children.layer>[0]> = {}) =>
  Effect.map(Layer.build(layer(home, more)), (context) => Context.get(context, Children))

/** A child in a fresh home; the body runs while it lives. */
const withChild = <A, E>(
  command: (folder: string) => Partial<ChildCommand> & { readonly args: ReadonlyArray<string> },
  body: (child: import("../../src/platform/Children.ts").Child, folder: string) => Effect.Effect<A, E>,
  more: Partial<Parameters<typeof Children.layer>[0]> = {}
) =>
  Effect.gen(function* () {
    const folder = yield* temporary
    return yield* Effect.scoped(
      Effect.gen(function* () {
        const children = yield* Children
        const child = yield* children.spawn({ command: "bash", cwd: folder, ...command(folder) })
        return yield* body(child, folder)
      })
    ).pipe(Effect.provide(layer(join(folder, "home"), more)))
  }).pipe(Effect.scoped)

/** Reads lines until `count` numbers have come. */
const pids = (stdout: Stream.Stream<Uint8Array>, count: number) =>
  stdout.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.take(count),
    Stream.runCollect,
    Effect.map((lines) => [...lines].map(Number))
  )

describe("a child", () => {
  it.live("gets closed stdin, its arguments, its directory, and both outputs are read to the end", () =>
    withChild(
      () => ({ args: ["-c", "cat; pwd; echo $1 >&2; exit 3", "x", "two words"] }),
      (child, folder) =>
        Effect.gen(function* () {
          const [out, err, exit] = yield* Effect.all([text(child.stdout), text(child.stderr), child.exit], {
            concurrency: 3
          })
          assert.deepStrictEqual([out, err, exit], [`${folder}\n`, "two words\n", { code: 3, signal: null }])
        })
    )
  )

  it.live("loses nothing of what it wrote when it ended before anybody read", () =>
    withChild(
      () => ({ args: ["-c", "printf 'x%.0s' {1..30000}"] }),
      (child) =>
        Effect.gen(function* () {
          yield* child.exit
          yield* Effect.sleep(50)
          assert.strictEqual((yield* text(child.stdout)).length, 30000)
        })
    )
  )

  it.live("gets its input, and an open stdin is the caller's", () =>
    Effect.gen(function* () {
      yield* withChild(
        () => ({ args: ["-c", "cat"], input: "given" }),
        (child) => Effect.map(text(child.stdout), (out) => assert.strictEqual(out, "given"))
      )
      yield* withChild(
        () => ({ args: ["-c", "cat; echo over"], input: { open: true } }),
        (child) =>
          Effect.gen(function* () {
            yield* child.write(Buffer.from("one "))
            yield* child.write(Buffer.from("two "))
            yield* child.end
            assert.strictEqual(yield* text(child.stdout), "one two over\n")
            assert.isTrue(Exit.isFailure(yield* Effect.exit(child.write(Buffer.from("more")))))
          })
      )
    })
  )

  it.live("never gets the variables that hold API keys, but its own settings may name one again", () =>
    withChild(
      () => ({ args: ["-c", "echo $KEY_A-$KEY_B-$PLAIN"], env: { KEY_B: "literal" } }),
      (child) => Effect.map(text(child.stdout), (out) => assert.strictEqual(out, "-literal-plain\n")),
      {
        secretEnv: new Set(["KEY_A", "KEY_B"]),
        env: { PATH: process.env["PATH"], KEY_A: "secret", KEY_B: "secret", PLAIN: "plain" }
      }
    )
  )

  it.live("that cannot be started is a typed failure: no command, no directory, a NUL in an argument", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const children = yield* open(join(folder, "home"))
      for (const [command, reason] of [
        [{ command: "no-such-command-here", args: [], cwd: folder }, "ENOENT"],
        [{ command: "bash", args: [], cwd: join(folder, "none") }, "ENOENT"],
        [{ command: "bash", args: ["a\0b"], cwd: folder }, "ERR_INVALID_ARG_VALUE"],
        [{ command: folder, args: [], cwd: folder }, "EACCES"]
      ] as const) {
        const failure = yield* Effect.flip(Effect.scoped(children.spawn(command)))
        assert.instanceOf(failure, SpawnFailed)
        assert.strictEqual(failure.reason, reason)
      }
    }).pipe(Effect.scoped)
  )
})

describe("closing the scope of a child", () => {
  /** Starts `script`, which prints `count` pids; closes; says how long that took and who is left. */
  const closing = (script: string, count: number, more: Partial<ChildCommand> = {}) =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const scope = yield* Scope.make()
      const children = yield* open(join(folder, "home"))
      const child = yield* children
        .spawn({ command: "bash", args: ["-c", script], cwd: folder, ...more })
        .pipe(Scope.provide(scope))
      const found = yield* pids(child.stdout, count)
      assert.deepStrictEqual(
        found.map(alive),
        found.map(() => true)
      )
      const started = performance.now()
      yield* Scope.close(scope, Exit.void)
      const took = performance.now() - started
      return { took, left: [child.pid, ...found].filter(alive), folder }
    })

  it.live("ends a child that ignores SIGTERM, and its background processes", () =>
    Effect.gen(function* () {
      const { left, took } = yield* closing("trap '' TERM; sleep 300 & echo $!; sleep 300 & echo $!; wait; wait", 2)
      assert.deepStrictEqual(left, [])
      assert.isBelow(took, 1000)
    }).pipe(Effect.scoped)
  )

  it.live("ends what left the group by setsid, by forking twice, or by nohup", () =>
    Effect.gen(function* () {
      const { left } = yield* closing(
        "setsid sleep 300 & echo $!; (setsid bash -c 'trap \"\" TERM HUP; echo $$; sleep 300; sleep 300' &) ; nohup sleep 300 >/dev/null 2>&1 & echo $!; wait",
        3
      )
      assert.deepStrictEqual(left, [])
    }).pipe(Effect.scoped)
  )

  it.live("ends what cleared its environment but stayed in the group, and ignores SIGTERM", () =>
    Effect.gen(function* () {
      const { left } = yield* closing(
        "env -i bash -c 'trap \"\" TERM; echo $$; while :; do sleep 0.05; done' & wait",
        1
      )
      assert.deepStrictEqual(left, [])
    }).pipe(Effect.scoped)
  )

  it.live("ends the descendants also when the child itself has ended long before", () =>
    Effect.gen(function* () {
      const { left } = yield* closing("sleep 300 & echo $!; setsid sleep 300 & echo $!; exit 0", 2)
      assert.deepStrictEqual(left, [])
    }).pipe(Effect.scoped)
  )

  it.live("lets a polite child clean up within its grace", () =>
    Effect.gen(function* () {
      const { folder, left } = yield* closing(
        "trap 'echo cleaned > note; exit 0' TERM; echo $$; while :; do sleep 0.02; done",
        1,
        { graceMs: 1000 }
      )
      assert.deepStrictEqual([left, readFileSync(join(folder, "note"), "utf8")], [[], "cleaned\n"])
    }).pipe(Effect.scoped)
  )

  it.live("stopping a child leaves other children and unmarked processes alone", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const children = yield* open(join(folder, "home"))
      const command = { command: "sleep", args: ["300"], cwd: folder }
      const one = yield* children.spawn(command)
      const two = yield* children.spawn(command)
      yield* one.stop
      assert.deepStrictEqual([alive(one.pid), alive(two.pid)], [false, true])
      yield* one.stop
      assert.isTrue(alive(two.pid))
    }).pipe(Effect.scoped)
  )

  it.live("interrupting the user of a child ends it", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const children = yield* open(join(folder, "home"))
      const up = yield* Deferred.make<number>()
      const fiber = yield* Effect.forkChild(
        Effect.scoped(
          Effect.gen(function* () {
            const child = yield* children.spawn({ command: "sleep", args: ["300"], cwd: folder })
            yield* Deferred.succeed(up, child.pid)
            yield* child.exit
          })
        )
      )
      const pid = yield* Deferred.await(up)
      yield* Fiber.interrupt(fiber)
      assert.isFalse(alive(pid))
    }).pipe(Effect.scoped)
  )

  it.live("many short children leave no listener, pipe or process behind", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const children = yield* open(join(folder, "home"))
      const once = Effect.scoped(
        Effect.gen(function* () {
          const child = yield* children.spawn({ command: "true", args: [], cwd: folder })
          yield* child.exit
        })
      )
      yield* once
      const before = readdirSync("/proc/self/fd").length
      yield* Effect.forEach(Array.from({ length: 60 }), () => once, { concurrency: 4, discard: true })
      assert.isAtMost(readdirSync("/proc/self/fd").length, before + 2)
    }).pipe(Effect.scoped)
  )
})

describe("marks", () => {
  it("nest: what carries an inner mark still carries the outer ones", () => {
    assert.deepStrictEqual(withMarks(withMarks({ A: "1" }, "outer-mark"), "inner-mark", "child-mark"), {
      A: "1",
      MAGI_CODE_MARK: "outer-mark,inner-mark,child-mark"
    })
  })

  it.live("a sweep finds the exact mark only, never a part of one, and nothing for a mark too short", () =>
    withChild(
      () => ({ args: ["-c", "sleep 300"] }),
      (child) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* carriers(child.mark.slice(0, -1)), [])
          assert.deepStrictEqual(yield* carriers(child.mark.slice(1)), [])
          assert.deepStrictEqual(yield* carriers(""), [])
          assert.strictEqual(yield* sweep(child.mark.slice(0, -1)), 0)
          assert.isTrue(alive(child.pid))
          assert.isAtLeast(yield* sweep(child.mark), 1)
          assert.strictEqual((yield* child.exit).signal, "SIGKILL")
        })
    )
  )
})

describe("the run file", () => {
  it.live("exists from the first child to the closing of the layer, private to its owner", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const home = join(folder, "home")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const context = yield* Layer.build(layer(home))
          yield* Effect.gen(function* () {
            const children = yield* Children
            assert.isFalse(existsSync(home))
            yield* Effect.scoped(children.spawn({ command: "true", args: [], cwd: folder }))
            const [name] = readdirSync(join(home, "run"))
            const content: unknown = JSON.parse(readFileSync(join(home, "run", name ?? ""), "utf8"))
            assert.strictEqual(typeof content === "object" && content && "pid" in content && content.pid, process.pid)
          }).pipe(Effect.provide(context))
        })
      )
      assert.deepStrictEqual(readdirSync(join(home, "run")), [])
    }).pipe(Effect.scoped)
  )

  it.live("of a killed backend makes the next one of the same home sweep its mark", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const home = join(folder, "home")
      // A backend of its own process that starts a child, and is then killed outright.
      writeFileSync(
        join(folder, "backend.ts"),
        `import { Effect } from ${JSON.stringify(import.meta.resolve("effect"))}
         import { Children } from ${JSON.stringify(join(import.meta.dirname, "../../src/platform/Children.ts"))}
         Effect.runPromise(Effect.scoped(Effect.gen(function*() {
           const children = yield* Children
           const child = yield* children.spawn({ command: "sleep", args: ["300"], cwd: ${JSON.stringify(folder)} })
           console.log(child.pid)
           yield* Effect.never
         })).pipe(Effect.provide(Children.layer({ mark: ${JSON.stringify(`killed-${randomUUID()}`)}, home: ${JSON.stringify(home)}, secretEnv: new Set() }))))`
      )
      mkdirSync(home)
      const children = yield* open(join(folder, "other"))
      const backend = yield* children.spawn({
        command: process.execPath,
        args: [join(folder, "backend.ts")],
        cwd: folder
      })
      const [pid] = yield* pids(backend.stdout, 1)
      assert.isTrue(pid !== undefined && alive(pid))
      process.kill(backend.pid, "SIGKILL")
      yield* backend.exit
      assert.isTrue(pid !== undefined && alive(pid))
      yield* Effect.gen(function* () {
        yield* (yield* Children).recover
      }).pipe(Effect.provide(layer(home)))
      assert.isFalse(pid !== undefined && alive(pid))
      assert.deepStrictEqual(readdirSync(join(home, "run")), [])
    }).pipe(Effect.scoped)
  )

  it.live("of a backend that still runs is left alone, damaged ones too", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const home = join(folder, "home")
      const mark = `still-running-${randomUUID()}`
      const children = yield* open(home, { mark })
      const child = yield* children.spawn({ command: "sleep", args: ["300"], cwd: folder })
      writeFileSync(join(home, "run", "damaged.json"), '{"version":1,"mark":""}')
      yield* Effect.gen(function* () {
        yield* (yield* Children).recover
      }).pipe(Effect.provide(layer(home, { mark: `the-next-one-${randomUUID()}` })))
      assert.isTrue(alive(child.pid))
      assert.deepStrictEqual(readdirSync(join(home, "run")).sort(), ["damaged.json", `${mark}.json`])
    }).pipe(Effect.scoped)
  )
})
