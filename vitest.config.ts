import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const hook = fileURLToPath(new URL('test/setup/typescript-hook.mjs', import.meta.url))

// Node 20 reads the whole bundle of certificates at every start, three times the cost of the start itself; only npm needs it, in test/package.
process.env['EXTRA_CA_CERTS_FOR_NPM'] ??= process.env['NODE_EXTRA_CA_CERTS'] ?? ''
delete process.env['NODE_EXTRA_CA_CERTS']

// Tests of pure hearts share their workers, which saves a start and the loading of everything for each file; whoever starts programs or touches the process has a worker of his own.
const pure = ['unit', 'pins', 'views/model', 'workflow/build', 'workflow/expressions', 'workflow/interpret', 'workflow/outline'].map((folder) => `test/${folder}/**/*.test.ts`)
// Looks at the modules that node loads, and a built program has none.
const notBuilt = process.env['BUILT_PROGRAMS'] === undefined ? [] : ['test/cli/lazy-loading.test.ts']

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: ['**/node_modules/**', ...pure, ...notBuilt], typecheck: { enabled: true, include: ['test/types/**/*.test-d.ts'], tsconfig: 'tsconfig.types.json' } } },
    ],
    setupFiles: ['test/setup/neutral-environment.ts', 'test/setup/write-coverage.ts'],
    // One process for each test file; dist/ and src/ are loaded by node itself, not by vite, so that V8 coverage is true.
    pool: 'forks',
    // Left to itself, vitest keeps a core free, which is half of a machine with two.
    maxWorkers: availableParallelism(),
    execArgv: ['--enable-source-maps', '--import', hook],
    server: { deps: { external: [/\/dist\//, /\/src\/.*\.ts$/] } },
    // Only what never comes is waited for so long.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
})
