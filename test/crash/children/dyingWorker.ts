/** The store's own worker, which kills its process before or after one of its commits. */
import { DatabaseSync, StatementSync } from "node:sqlite"
import { getEnvironmentData } from "node:worker_threads"
import { deathAt, isSession } from "../points.ts"

const reached = deathAt(String(getEnvironmentData("place")), Number(getEnvironmentData("nth")))

/** A commit with a death on either side. */
const around = (commit: () => unknown): unknown => {
  reached("written", "COMMIT")
  const done = commit()
  reached("committed", "COMMIT")
  return done
}

// A session's first commit is made by `exec`, all others by a statement that it keeps; the index has no such statement.
DatabaseSync.prototype.exec = new Proxy(DatabaseSync.prototype.exec, {
  apply: (target, self: DatabaseSync, args) => {
    const run = () => Reflect.apply(target, self, args)
    return args[0] === "COMMIT" && isSession(self) ? around(run) : run()
  }
})
StatementSync.prototype.run = new Proxy(StatementSync.prototype.run, {
  apply: (target, self: StatementSync, args) => {
    const run = () => Reflect.apply(target, self, args)
    return self.sourceSQL === "COMMIT" ? around(run) : run()
  }
})

await import("../../../src/store/storeWorker.ts")
