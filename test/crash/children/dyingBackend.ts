/**
 * `magi-code serve --stdio` that kills itself at one point: PLACE NTH (see points.ts). It is the whole backend, with a
 * death beside its store and its transport.
 */
import { setEnvironmentData } from "node:worker_threads"
import { Effect, Layer } from "effect"
import * as Logging from "../../../src/platform/Logging.ts"
import { mcHome } from "../../../src/server/DefaultStartup.ts"
import {
  type SessionHandle,
  SessionStore,
  SqliteSessionStore,
  serve,
  startupWith,
  Transport
} from "../../../src/server/index.ts"
import * as StdioTransport from "../../../src/transport/StdioTransport.ts"
import { deathAt, pointOf, tell } from "../points.ts"

const [place = "", nth = "0"] = process.argv.slice(2)
const reached = deathAt(place, Number(nth))

// The store gives its worker neither arguments nor an environment.
setEnvironmentData("place", place)
setEnvironmentData("nth", nth)
const worker = new URL("./dyingWorker.mjs", import.meta.url)

const dyingHandle = (handle: SessionHandle): SessionHandle => ({
  ...handle,
  append: (records) =>
    Effect.tap(handle.append(records), () =>
      Effect.sync(() =>
        tell({
          acknowledged: records.map((record) => ({
            entryId: record.entryId,
            kind: record.kind,
            tool: record.kind === "call_outcome" ? record.name : null
          }))
        })
      )
    )
})

const store = Layer.effect(
  SessionStore,
  Effect.map(SessionStore, (inner) => ({
    ...inner,
    create: (options) => Effect.map(inner.create(options), dyingHandle),
    open: (options) => Effect.map(inner.open(options), dyingHandle)
  }))
).pipe(Layer.provide(SqliteSessionStore.layer({ home: mcHome(process.env), worker })))

const transport = Layer.effect(
  Transport,
  Effect.map(Transport, (inner) => ({
    ...inner,
    // The writer hands over one frame at a time.
    write: (bytes) =>
      Effect.suspend(() => {
        const point = pointOf(JSON.parse(new TextDecoder().decode(bytes)))
        if (point !== undefined) reached("saying", point)
        return inner.write(bytes)
      })
  }))
).pipe(Layer.provide(StdioTransport.layer))

const main = serve({
  workspace: process.cwd(),
  startup: startupWith({ store }),
  server: { name: "magi-code", version: "test" }
}).pipe(Effect.provide(Layer.mergeAll(transport, Logging.layer)))

process.exit(await Effect.runPromise(main))
