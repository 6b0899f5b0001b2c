import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const hook = fileURLToPath(new URL('test/setup/typescript-hook.mjs', import.meta.url))

// Node 20 reads the whole bundle of certificates at every start, three times the cost of the start itself; only npm needs it, in test/package.
process.env['EXTRA_CA_CERTS_FOR_NPM'] ??= process.env['NODE_EXTRA_CA_CERTS'] ?? ''
delete process.env['NODE_EXTRA_CA_CERTS']

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup/neutral-environment.ts', 'test/setup/write-coverage.ts'],
    typecheck: { include: ['test/types/**/*.test-d.ts'], tsconfig: 'tsconfig.types.json' },
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
