/** The mutants: one mistake each, in words, with the text it replaces. `scripts/mutants.ts` applies them. */

export interface Mutant {
  readonly file: string
  /** What a person would have got wrong. */
  readonly mistake: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Test files that must notice, the quick ones first. */
  readonly tests: ReadonlyArray<string>
  /** Why no test can notice: then it does not count. */
  readonly equivalent?: string
}

const broker = ["test/broker", "test/races/broker.test.ts", "test/races/model.test.ts", "test/races/connection.test.ts"]
const writer = ["test/transport", "test/races/model.test.ts"]
const server = ["test/server", "test/races/connection.test.ts"]

const handlers = [
  "test/client/callTable.test.ts",
  "test/client/handlersUnit.test.ts",
  "test/client/handlers.test.ts",
  "test/races/client.test.ts"
]

const TABLE = "src/client/CallTable.ts"
const HANDLERS = "src/client/Handlers.ts"
const PENDING = "src/broker/PendingCalls.ts"
const BROKER = "src/broker/BrokerLive.ts"
const WRITER = "src/transport/OrderedWriter.ts"
const READER = "src/transport/FrameReader.ts"
const DISPATCHER = "src/server/Dispatcher.ts"
const CONNECTION = "src/server/Connection.ts"
const CLOSING = "src/server/Closing.ts"
const LIFECYCLE = "src/server/Lifecycle.ts"
const IDS = "src/server/RequestIds.ts"
const BOUNDED = "src/platform/Bounded.ts"

export const mutants: ReadonlyArray<Mutant> = [
  {
    file: PENDING,
    mistake: "a seventeenth call fits",
    find: "this.#calls.size >= this.#capacity",
    replace: "this.#calls.size > this.#capacity",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "one slot too few",
    find: "this.#calls.size >= this.#capacity",
    replace: "this.#calls.size >= this.#capacity - 1",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "calls are taken after closing",
    find: 'if (this.#closed) return "closed"',
    replace: "",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "a settled call is published",
    find: 'if (!this.isPending(call)) return "Settled"',
    replace: "",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "a call whose event got no place counts as published",
    find: 'call.published = placed === "Placed"',
    replace: "call.published = true",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "an unpublished call can be answered",
    find: "call?.published && call.deadline !== undefined && now < call.deadline",
    replace: "call && (call.deadline === undefined || now < call.deadline)",
    tests: broker,
    equivalent: "its id is not known to anybody before it is published"
  },
  {
    file: PENDING,
    mistake: "a reply at the deadline wins",
    find: "now < call.deadline",
    replace: "now <= call.deadline",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "the deadline is not looked at",
    find: "now < call.deadline ? call",
    replace: "now < call.deadline + 10n ** 18n ? call",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "settling twice",
    find: "if (!this.isPending(call)) return false",
    replace: "",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "the slot is not freed",
    find: "    this.#calls.delete(call.identity.call_id)\n    acknowledge?.()",
    replace: "    acknowledge?.()",
    tests: broker
  },
  { file: PENDING, mistake: "no acknowledgement", find: "    acknowledge?.()\n", replace: "", tests: broker },
  {
    file: PENDING,
    mistake: "the waiting fiber is told before the entry is gone",
    find: "    this.#calls.delete(call.identity.call_id)\n    acknowledge?.()\n    this.#notify(call, ending)\n    Deferred.doneUnsafe(call.ending, Exit.succeed(ending))",
    replace:
      "    Deferred.doneUnsafe(call.ending, Exit.succeed(ending))\n    this.#calls.delete(call.identity.call_id)\n    acknowledge?.()\n    this.#notify(call, ending)",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "the acknowledgement after the waiter",
    find: "    acknowledge?.()\n    this.#notify(call, ending)\n    Deferred.doneUnsafe(call.ending, Exit.succeed(ending))",
    replace:
      "    Deferred.doneUnsafe(call.ending, Exit.succeed(ending))\n    acknowledge?.()\n    this.#notify(call, ending)",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "no cancel notice when one call ends",
    find: "    acknowledge?.()\n    this.#notify(call, ending)",
    replace: "    acknowledge?.()",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "no cancel notices when all end",
    find: "    for (const call of ended) this.#notify(call, ending)\n",
    replace: "",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "the others are not told at closing",
    find: "    for (const call of ended) Deferred.doneUnsafe(call.ending, Exit.succeed(ending))\n",
    replace: "",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "ended calls keep their slots",
    find: "    for (const call of ended) this.#calls.delete(call.identity.call_id)\n",
    replace: "",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "the end of one run ends every run's calls",
    find: ".filter(which)",
    replace: ".filter(() => true)",
    tests: broker
  },
  {
    file: PENDING,
    mistake: "closing says cancelled",
    find: 'return this.settleAll("shutdown")',
    replace: 'return this.settleAll("cancelled")',
    tests: broker
  },
  {
    file: PENDING,
    mistake: "a cancel for a call that was never published",
    find: 'ending._tag === "Cancelled" && call.published',
    replace: 'ending._tag === "Cancelled"',
    tests: broker
  },
  {
    file: PENDING,
    mistake: "a cancel after acceptance",
    find: 'if (ending._tag === "Cancelled" && call.published) this.#placeCancel(call.identity, ending.reason)',
    replace:
      'if (call.published) this.#placeCancel(call.identity, ending._tag === "Cancelled" ? ending.reason : "cancelled")',
    tests: broker
  },
  {
    file: BROKER,
    mistake: "arguments are not measured",
    find: "if (unfit !== undefined) return yield* failure(unfit)",
    replace: "void unfit",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "the wait ends later than the deadline",
    find: "duration: request.tool.timeout_ms,",
    replace: "duration: request.tool.timeout_ms + 1,",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "the wait ends earlier than the deadline",
    find: "duration: request.tool.timeout_ms,",
    replace: "duration: request.tool.timeout_ms - 1,",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "expiry does not settle",
    find: '              pending.settle(call, { _tag: "Cancelled", reason: "timeout" })\n',
    replace: "",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "expiry says cancelled",
    find: '{ _tag: "Cancelled", reason: "timeout" }',
    replace: '{ _tag: "Cancelled", reason: "cancelled" }',
    tests: broker
  },
  {
    file: BROKER,
    mistake: "a call settled while its start is recorded waits for the disk",
    find: "yield* Effect.raceFirst(request.started, Effect.asVoid(Deferred.await(call.ending)))",
    replace: "yield* request.started",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "an interruption settles nothing",
    find: '                : { _tag: "Cancelled", reason: "cancelled" }',
    replace: '                : { _tag: "Cancelled", reason: "run_finished" }',
    tests: broker
  },
  {
    file: BROKER,
    mistake: "the wait cannot be interrupted",
    find: "            Effect.interruptible(\n              live(registered, {",
    replace: "            Effect.uninterruptible(\n              live(registered, {",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "an accepted result is lost to an interruption",
    find: "      Effect.uninterruptible(\n        Effect.gen(function* () {\n          const unfit",
    replace: "      Effect.interruptible(\n        Effect.gen(function* () {\n          const unfit",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "only the call id of a reply is compared",
    find: "return found && CallIdentity.same(found.identity, reply.identity) ? found : undefined",
    replace: "return found",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "no second look after the protection",
    find: "        if (pendingOf(decoded.success) !== found) return stale\n",
    replace: "",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "the size of a result is not measured",
    find: "if (ToolResult.sizeOf(value) > ClientToolLimits.result_bytes) return tooLarge(value.text)",
    replace: "",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "a rejected result is accepted as it came",
    find: 'if (result._tag === "Failure") return refused("invalid_params", result.failure.message, result.failure.path)',
    replace: 'if (result._tag === "Failure") return { _tag: "Accepted" } as const',
    tests: broker
  },
  {
    file: BROKER,
    mistake: "an error reply is a success",
    find: 'return ending.reply.status === "success"',
    replace: "return ending.reply.status",
    tests: broker
  },
  {
    file: BROKER,
    mistake: "a frame too large leaves the call pending",
    find: 'if (placed === "TooLarge" || placed === "Dropped") {',
    replace: 'if (placed === "Dropped") {',
    tests: broker
  },
  {
    file: BROKER,
    mistake: "a failed writer leaves the call pending",
    find: '} else if (placed === "Closed") {',
    replace: '} else if (placed === "Settled") {',
    tests: broker
  },
  {
    file: BROKER,
    mistake: "the end of a run says cancelled",
    find: 'pending.settleAll("run_finished",',
    replace: 'pending.settleAll("cancelled",',
    tests: broker
  },
  {
    file: WRITER,
    mistake: "droppable events are never dropped",
    find: "if (event.droppable && frames.length >= DROP_AT_FRAMES) return DROPPED",
    replace: "",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "dropped one too late",
    find: "frames.length >= DROP_AT_FRAMES",
    replace: "frames.length > DROP_AT_FRAMES",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "critical events are dropped too",
    find: "if (event.droppable && frames",
    replace: "if (frames",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "a sequence number for a frame that is too large",
    find: "      if (bytes.length > Limits.output_frame_bytes) return TOO_LARGE\n      sequence += 1",
    replace: "      sequence += 1\n      if (bytes.length > Limits.output_frame_bytes) return TOO_LARGE",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "the LF is not counted",
    find: "const bytes = encodeFrame(\n        Envelope.event({",
    replace: "const bytes = encoder.encode(\n        Envelope.event({",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "the depth of data is counted without its frame",
    find: "CompactJson.depth(event.data) + 1 > Limits.json_depth",
    replace: "CompactJson.depth(event.data) > Limits.json_depth",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "producers never wait",
    find: "frames.length < limit ? undefined : Deferred.makeUnsafe<void>()",
    replace: "undefined as Deferred.Deferred<void> | undefined",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "a waiting producer is let in one too late",
    find: "const next = frames[limit - 1]",
    replace: "const next = frames[limit - 2]",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "the two seconds begin with the write",
    find: "const left = Number(head.askedAt + deadlineNanos - clock.monotonicTimeNanosUnsafe()) / 1_000_000",
    replace: "const left = Limits.output_deadline_ms",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "a failure leaves the producers waiting",
    find: "      for (const frame of skipped) if (frame.admitted) Deferred.doneUnsafe(frame.admitted, Exit.void)\n",
    replace: "",
    tests: writer
  },
  {
    file: WRITER,
    mistake: "a frame leaves inside the step that gives it its place",
    find: "work.await.pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(writeHead))",
    replace: "work.await.pipe(Effect.andThen(writeHead))",
    tests: writer
  },
  {
    file: READER,
    mistake: "one byte too many fits",
    find: "this.#size + end - from > this.#limit",
    replace: "this.#size + end - from > this.#limit + 1",
    tests: writer
  },
  {
    file: READER,
    mistake: "a chunk is kept by reference",
    find: "this.#parts.push(chunk.slice(from, end))",
    replace: "this.#parts.push(chunk.subarray(from, end))",
    tests: writer
  },
  {
    file: DISPATCHER,
    mistake: "a duplicate id is executed",
    find: 'if (verdict === "duplicate_id") return refuse(verdict, "this request id was used before")',
    replace: "",
    tests: server
  },
  {
    file: DISPATCHER,
    mistake: "closing still takes requests",
    find: 'if (state.lifecycle.state === "closing") return refuse("shutting_down", "the agent is closing")',
    replace: "",
    tests: server
  },
  {
    file: DISPATCHER,
    mistake: "the lane is waited for without end",
    find: "Effect.timeoutOption(Fiber.await(fiber), LANE_PATIENCE_MS)",
    replace: "Fiber.await(fiber)",
    tests: server
  },
  {
    file: DISPATCHER,
    mistake: "the lane is not waited for",
    find: "Effect.flatMap((fiber) => Effect.timeoutOption(Fiber.await(fiber), LANE_PATIENCE_MS))",
    replace: "Effect.flatMap(() => Effect.void)",
    tests: server
  },
  {
    file: CONNECTION,
    mistake: "EOF before the frames of its chunk",
    find: "          for (const frame of arrived.frames) yield* dispatch(frame)\n",
    replace: "          for (const frame of arrived.frames) yield* Effect.forkScoped(dispatch(frame))\n",
    tests: server
  },
  {
    file: CONNECTION,
    mistake: "an oversized frame goes unanswered",
    find: 'return yield* beginClosing("oversized_frame")',
    replace: 'return yield* beginClosing("eof")',
    tests: server
  },
  {
    file: CONNECTION,
    mistake: "a late cleanup looks clean",
    find: "return code === 0 && !inTime ? CLEANUP_EXCEEDED : code",
    replace: "return code",
    tests: server
  },
  {
    file: CLOSING,
    mistake: "pending calls are left to the run",
    find: "if (state.backend) yield* Context.get(state.backend, Broker).close",
    replace: "",
    tests: server
  },
  {
    file: CLOSING,
    mistake: "the writer is sealed before what was read is answered",
    find: "Effect.andThen(Scope.close(options.fibers, Exit.void), options.answered)",
    replace: "Scope.close(options.fibers, Exit.void)",
    tests: server
  },
  {
    file: CLOSING,
    mistake: "initialize under way is not answered",
    find: '    state.starting?.failure("startup_cancelled", "the agent closed before start-up was over")\n',
    replace: "",
    tests: server
  },
  {
    file: LIFECYCLE,
    mistake: "a second initialize while the first runs",
    find: 'return method === "initialize" ? "already_initialized" : "initializing"',
    replace: 'return method === "initialize" ? undefined : "initializing"',
    tests: server
  },
  {
    file: IDS,
    mistake: "one id too many",
    find: "this.#used >= Limits.request_ids",
    replace: "this.#used > Limits.request_ids",
    tests: server
  },
  {
    file: IDS,
    mistake: "malformed lines use no id",
    find: "    this.#used += 1\n    if (id === null)",
    replace: "    if (id !== null) this.#used += 1\n    if (id === null)",
    tests: server
  },
  {
    file: BOUNDED,
    mistake: "the work itself is waited for",
    find: "Effect.timeoutOption(Fiber.await(fiber), time)",
    replace: "Effect.asSome(Fiber.await(fiber))",
    tests: server
  },
  {
    file: TABLE,
    mistake: "a call id seen before is executed again",
    find: 'if (this.#seen.has(callId)) return "seen"',
    replace: "",
    tests: handlers
  },
  {
    file: TABLE,
    mistake: "one remembered id too many",
    find: "this.#seen.size >= MOST_REMEMBERED",
    replace: "this.#seen.size > MOST_REMEMBERED",
    tests: handlers
  },
  {
    file: TABLE,
    mistake: "a seventeenth body runs",
    find: "this.#running >= this.mostRunning",
    replace: "this.#running > this.mostRunning",
    tests: handlers
  },
  {
    file: TABLE,
    mistake: "a thirty-third fiber",
    find: "this.#calls.size >= MOST_FIBERS",
    replace: "this.#calls.size > MOST_FIBERS",
    tests: handlers
  },
  {
    file: TABLE,
    mistake: "finalizing bodies keep their place",
    find: "    this.#running -= 1\n",
    replace: "",
    tests: handlers
  },
  {
    file: TABLE,
    mistake: "two winners",
    find: "    if (entry.winner !== undefined) return false\n",
    replace: "",
    tests: handlers
  },
  {
    file: TABLE,
    mistake: "the deadline's timer outlives the call",
    find: "    entry.winner = winner\n    this.#running -= 1\n    entry.stopTimer()",
    replace: "    entry.winner = winner\n    this.#running -= 1",
    tests: handlers
  },
  {
    file: TABLE,
    mistake: "only the call id of a cancel is compared",
    find: "entry !== undefined && entry.winner === undefined && same(entry.identity, identity) ? entry",
    replace: "entry !== undefined && entry.winner === undefined ? entry",
    tests: handlers
  },
  {
    file: TABLE,
    mistake: "an ended call keeps its fiber's place",
    find: "    this.#calls.delete(entry.identity.call_id)\n",
    replace: "",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "a cancelled handler goes on",
    find: "    entry.interrupt()\n    if (!table",
    replace: "    if (!table",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "finalizers are waited for without end",
    find: "    entry.stopTimer = after(FINALIZERS_MS, abandon)",
    replace: "    void abandon",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "a body that blocked past its deadline replies",
    find: "const late = remainingMs(entry.deadline) <= 0",
    replace: "const late = false",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "a loser replies",
    find: "      if (Exit.isSuccess(exit)) ClientMetrics.lateCompletions",
    replace:
      "      options.replies.send(entry.identity, replyOf(exit))\n      if (Exit.isSuccess(exit)) ClientMetrics.lateCompletions",
    tests: handlers,
    equivalent: "an interrupted fiber does not get that far; the guard is for a loser that ends in the same step"
  },
  {
    file: HANDLERS,
    mistake: "a handler starts after its deadline",
    find: 'if (remainingMs(deadline) <= 0) return ClientMetrics.calls.updateUnsafe("deadline", context)',
    replace: "",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "a call of another run is executed",
    find: "if (stopped || run === undefined || !belongs(identity, run)) return",
    replace: "if (stopped || run === undefined) return",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "a call that arrives while closing is executed",
    find: "if (stopped || run === undefined ||",
    replace: "if (run === undefined ||",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "unclean arguments reach the handler",
    find: "if (fault !== undefined) return refuse(faultText(fault))",
    replace: "void fault",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "the deadline counts from now on",
    find: "const deadline = at + BigInt(data.timeout_ms) * 1_000_000n",
    replace: "const deadline = clock.monotonicTimeNanosUnsafe() + BigInt(data.timeout_ms) * 1_000_000n",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "a loss interrupts nothing",
    find: "for (const entry of table.alive) end(entry, winner)",
    replace: "void winner",
    tests: handlers
  },
  {
    file: HANDLERS,
    mistake: "a defect tells the agent what it was",
    find: '"the tool failed unexpectedly"',
    replace: "Cause.pretty(exit.cause)",
    tests: handlers
  }
]
