import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Real child processes need the bundle that `npm test` builds first; two cores, so two workers.
    maxWorkers: 2,
    testTimeout: 20_000
  }
})
