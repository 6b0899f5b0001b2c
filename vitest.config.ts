import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const hook = fileURLToPath(new URL('test/setup/typescript-hook.mjs', import.meta.url))

// Node 20 reads the whole bundle of certificates at every start, three times the cost of the start itself; only npm needs it, in test/package.
process.env['EXTRA_CA_CERTS_FOR_NPM'] ??= process.env['NODE_EXTRA_CA_CERTS'] ?? ''
delete process.env['NODE_EXTRA_CA_CERTS']

// Looks at the modules that node loads, and a built program has none.
const notBuilt =
  process.env['BUILT_PROGRAMS'] === undefined ? [] : ['test/cli/lazy-loading.test.ts']

// `npm test` has compiled them with everything else already.
const typecheck = {
  enabled: process.env['TYPES_ARE_CHECKED'] === undefined,
  include: ['test/types/**/*.test-d.ts'],
  tsconfig: 'tsconfig.types.json',
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...notBuilt],
    typecheck,
    // A worker takes one file after another: a start and the loading of everything for each would be a third of what the suite costs. fresh-worker.ts lets them begin alike.
    isolate: false,
    setupFiles: [
      'test/setup/fresh-worker.ts',
      'test/setup/neutral-environment.ts',
      'test/setup/same-chances.ts',
      'test/setup/write-coverage.ts',
    ],
    sequence: { setupFiles: 'list' },
    // dist/ and src/ are loaded by node itself, not by vite, so that V8 coverage is true.
    pool: 'forks',
    // One more than there are cores: many tests wait for programs and clocks.
    maxWorkers: availableParallelism() + 1,
    execArgv: ['--enable-source-maps', '--import', hook],
    server: { deps: { external: [/\/dist\//, /\/src\/.*\.ts$/] } },
    // Only what never comes is waited for so long.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
})
