import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import type { Outcome } from '../../../src/protocol/outcome.ts'
import type { CallOptions } from '../../../src/core/call.ts'
import { invoke } from '../../../src/core/invoke.ts'
import { defineForeign } from '../../../src/registry/foreign/define-foreign.ts'
import { createWarmPool } from '../../../src/registry/warm/pool.ts'
import type { WarmPool } from '../../../src/registry/warm/pool.ts'
import { WarmUnavailable } from '../../../src/registry/child/child-call.ts'
import type {
  WarmCall,
  WarmSettings,
  WarmProgramSpec,
} from '../../../src/registry/child/child-call.ts'
import { HANG_MS } from '../../support/limits.ts'
import { cleanEnvironment, fixture, makeFolder } from '../../support/run-program.ts'

const pools = new Set<WarmPool>()
afterAll(() => Promise.all([...pools].map((pool) => pool.close())))

/** A pool that is closed after the tests of this file. */
export function openPool(settings: Partial<WarmSettings> = {}): WarmPool {
  // How long a program takes to start is up to the machine.
  const pool = createWarmPool({ env: cleanEnvironment(), startTimeoutMs: HANG_MS, ...settings })
  pools.add(pool)
  return pool
}

/** A fixture as a program that can be kept warm. */
export function targetOf(name: string, more: Partial<WarmProgramSpec> = {}): WarmProgramSpec {
  const { NODE_V8_COVERAGE: coverage } = process.env
  return {
    command: [process.execPath, name.startsWith('/') ? name : fixture(name)],
    cwd: makeFolder(),
    ...more,
    env: { ...(coverage !== undefined && { NODE_V8_COVERAGE: coverage }), ...more.env },
  }
}

/** Calls a tool through the one pipeline, the way a registry does. */
export async function callWarm(
  pool: WarmPool,
  call: WarmCall,
  options: CallOptions = {},
): Promise<Outcome> {
  let outcome: Outcome | undefined
  const definition = defineForeign(
    call.tool,
    { inputSchema: { type: 'object', properties: {}, additionalProperties: false } },
    async (_input, ctx) => {
      outcome = await pool.call(call, ctx)
      return outcome.ok ? outcome.result : null
    },
  )
  const finished = await invoke(definition, {}, options)
  if (finished.error?.cause instanceof WarmUnavailable) throw finished.error.cause
  return finished.outcome.ok ? outcome! : finished.outcome
}

/** Writes a program whose only tool says its version. */
export function writeVersion(path: string, version: string): void {
  const library = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))
  writeFileSync(
    path,
    `
    import { setTimeout as sleep } from 'node:timers/promises'
    import { tool, toolset } from ${JSON.stringify(library)}
    const said = tool({ name: 'said', summary: 'Its version', input: { type: 'object', properties: { after: { type: 'number' } } }, run: async ({ after = 0 }) => { await sleep(after); return { version: ${JSON.stringify(version)}, pid: process.pid } } })
    await toolset({ name: 'versions', tools: [said] }).run(import.meta)
  `,
  )
}
