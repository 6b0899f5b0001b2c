import { readFileSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { HANG_MS } from './test/support/limits.ts'

const hook = fileURLToPath(new URL('test/setup/typescript-hook.mjs', import.meta.url))

// Node 20 reads the whole bundle of certificates at every start, three times the cost of the start
// itself; only npm needs it, in test/package.
process.env['EXTRA_CA_CERTS_FOR_NPM'] ??= process.env['NODE_EXTRA_CA_CERTS'] ?? ''
delete process.env['NODE_EXTRA_CA_CERTS']

const HOURS_MS = 6 * 3_600_000
const NODE_MODULES = '**/node_modules/**'
// Counts the modules that node loads, and a built program is one file.
const NOT_BUILT = 'test/cli/lazy-loading.test.ts'
const isBuilt = process.env['BUILT_PROGRAMS'] !== undefined
const isSoak = process.env['TEST_SOAK'] !== undefined

// `npm test` has compiled them with everything else already.
const typecheck = {
  enabled: process.env['TYPES_ARE_CHECKED'] === undefined,
  include: ['test/types/**/*.test-d.ts'],
  tsconfig: 'tsconfig.types.json',
}

// The name of a file says which suite it belongs to: `x.test.ts` is run by `npm test`,
// `x.slow.test.ts` by `npm run test:slow`.
const exclude = isBuilt ? [NODE_MODULES, NOT_BUILT] : [NODE_MODULES]
const fast = {
  name: 'fast',
  include: ['test/**/*.test.ts'],
  exclude: [...exclude, '**/*.slow.test.ts'],
  typecheck,
}
const slow = { name: 'slow', include: ['test/**/*.slow.test.ts'], exclude }
// Series that can be as long as somebody has time for; `npm run test:soak`.
const soak = {
  name: 'soak',
  include: isSoak ? listFilesWithRounds() : [],
  exclude,
  testTimeout: HOURS_MS,
  hookTimeout: HOURS_MS,
}

export default defineConfig({
  test: {
    projects: (isSoak ? [soak] : [fast, slow]).map((test) => ({ extends: true, test })),
    // A worker takes one file after another: a start and the loading of everything for each would
    // be a third of what the suite costs. fresh-worker.ts lets them begin alike.
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
    // Only a hang reaches these; test/support/limits.ts is the same for other waits.
    expect: { poll: { timeout: HANG_MS } },
    testTimeout: HANG_MS + 60_000,
    hookTimeout: HANG_MS + 60_000,
  },
})

function listFilesWithRounds(folder = 'test'): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFilesWithRounds(path)
    return path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('/support/rounds.ts')
      ? [path]
      : []
  })
}
