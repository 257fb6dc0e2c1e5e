/**
 * The thread that scans tool results: one job at a time, an answer for each. It is told the live keys when it starts and
 * sees nothing else of the process: no environment, no files, no output.
 *
 * base-protocol section 6, Redaction: "Scanning is bounded and happens off the protocol's thread".
 */
import { parentPort, workerData } from "node:worker_threads"
import { threadCpuMillis } from "../../platform/threadCpu.ts"
import { makeRedactor, type RawResult, type Verdict } from "./Redactor.ts"

export interface ScanJob {
  readonly result: RawResult
  readonly maxBytes: number
  /** Milliseconds of CPU. */
  readonly maxCpu: number
}

/** The first message of the worker says that it is warm; every other one answers the job before it. */
export type ScanMessage = { readonly _tag: "Ready" } | { readonly _tag: "Verdict"; readonly verdict: Verdict }

export interface ScanWorkerData {
  readonly secrets: ReadonlyArray<string>
}

const send = (message: ScanMessage): void => parentPort?.postMessage(message)

/** A little of everything: after a few rounds the first real result is scanned by compiled code. */
const sample: RawResult = {
  text: [
    "plain words and a path /usr/lib/node, version 1.2.3, https://user:word@example.org/a?b=c",
    "password = 'a word' token: abc; Authorization: Bearer abc.def-ghi, Basic dXNlcjpwYXNz",
    "<apiKey>value</apiKey> --password word -u user:word ghp_0123456789abcdefghijABCDEFGHIJ0123456789",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----"
  ].join("\n"),
  structured: JSON.stringify({
    token: [1],
    list: ["a", { "api_key=b": null }],
    text: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"
  })
}

const WARM_ROUNDS = 20

const serve = async ({ secrets }: ScanWorkerData): Promise<void> => {
  const redactor = makeRedactor(secrets, threadCpuMillis)
  for (let round = 0; round < WARM_ROUNDS; round += 1) {
    await redactor.protect(sample, { maxBytes: 65_536, maxCpu: Number.POSITIVE_INFINITY })
  }
  parentPort?.on("message", ({ maxBytes, maxCpu, result }: ScanJob) => {
    void redactor.protect(result, { maxBytes, maxCpu }).then((verdict) => send({ _tag: "Verdict", verdict }))
  })
  send({ _tag: "Ready" })
}

void serve(workerData)
