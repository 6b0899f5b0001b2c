import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Workflow } from '../../../src/workflow/definition/model.ts'
import { openEmbeddedEngine } from '../../../src/workflow/embedded/embedded-engine.ts'
import type {
  EmbeddedEngine,
  EmbeddedEngineOptions,
} from '../../../src/workflow/embedded/embedded-engine.ts'
import type { JournalRecord } from '../../../src/workflow/embedded/journal-records.ts'
import { makeFolder } from '../../support/run-program.ts'
import { onTestFinished } from 'vitest'

/** A folder of runs that does not exist yet. */
export const newRoot = (): string => join(makeFolder(), '.runs')

/** Steps that give their name, one after the other. */
export const chain = (...names: readonly string[]): Workflow => ({
  name: 'chain',
  steps: names.map((name) => ({ type: 'tool', name, tool: name, input: {} })),
})

/** The same workflow as the fixture `executes.mjs` has. */
export const three: Workflow = {
  name: 'three',
  steps: [
    { type: 'tool', name: 'one', tool: 'one', input: { n: '${{ input.n }}' } },
    {
      type: 'parallel',
      name: 'two',
      max_concurrency: 2,
      tasks: ['a', 'b', 'c'].map((name) => ({
        type: 'tool',
        name,
        tool: name,
        input: { got: '${{ steps.one.result }}' },
      })),
    },
    { type: 'tool', name: 'three', tool: 'three', input: { all: '${{ steps.two.result }}' } },
  ],
}

/** An engine whose tools give their name, closed after the test. */
export async function open(
  folder: string,
  options: Partial<EmbeddedEngineOptions> = {},
): Promise<EmbeddedEngine> {
  const engine = await openEmbeddedEngine({
    folder,
    perform: ({ tool, given }) =>
      Promise.resolve({ ok: true, value: { tool, ...('input' in given && given.input) } }),
    ...options,
  })
  onTestFinished(() => engine.close())
  return engine
}

/** The files of records in a folder of runs. */
export function segmentsOf(root: string): string[] {
  const folder = join(root, 'workflows')
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => /^j-.*\.jsonl$/.test(name))
        .sort()
        .map((name) => join(folder, name))
    : []
}

/** All records in them; a torn last line does not count. */
export function recordsIn(root: string): JournalRecord[] {
  return segmentsOf(root).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(1, -1)
      .map((line) => JSON.parse(line) as JournalRecord),
  )
}

/** How often each step was performed, by its idempotency key. */
export function countsOf(counter: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of existsSync(counter)
    ? readFileSync(counter, 'utf8').split('\n').slice(0, -1)
    : [])
    counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** The steps that are on record, as idempotency keys. */
export function recordedSteps(root: string): Set<string> {
  return new Set(
    recordsIn(root).flatMap((record) => (record.t === 'done' ? [`${record.w}/${record.k}`] : [])),
  )
}
