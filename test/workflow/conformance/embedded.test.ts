import { describe } from 'vitest'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { untilToolsAreGone } from '../../support/processes.ts'
import type { Running } from '../../support/run-program.ts'
import { COUNT, makeProject } from '../support.ts'
import type { EngineUnderTest } from './engine-under-test.ts'
import { conformanceSuite } from './suite.ts'
import '../../support/without-coverage.ts'

describe('one suite for every engine [9.conformance]', () => conformanceSuite('the embedded engine', openEmbedded, { kills: 50 }))

async function openEmbedded(): Promise<EngineUnderTest> {
  const project = makeProject({ 'workflow/count.sh': COUNT })
  const processes = new Map<string, Running>()
  const settle = (): Promise<void> => untilToolsAreGone(join(project.folder, 'tools'))
  const show = async (id: string): Promise<any> => (await project.toolable(['runs', 'show', id])).json.result
  const journal = (id: string): readonly any[] => {
    // The last line may be torn, which is what the engine has to live with.
    return readFileSync(join(project.runs, id, 'journal.jsonl'), 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as unknown)
  }
  let made = 0
  return {
    project,
    crashPoints: ['journal.append#3', 'journal.append#9', 'journal.written#4', 'journal.synced#4', 'step.performed#1', 'step.performed#6'],
    async start(definition, { crashAt } = {}) {
      const id = `r-${String((made += 1)).padStart(10, '0')}`
      const file = project.write(`flow-${made}.json`, JSON.stringify(definition))
      const running = project.start(['workflow', 'run', file, '--wait', '--id', id], crashAt === undefined ? {} : { env: { TOOLABLE_CRASH_AT: crashAt } })
      processes.set(id, running)
      await running.said('"runner_start"')
      return id
    },
    questions: async (id) => ((await show(id)).questions ?? []).map((question: { readonly id: string }) => question.id),
    async answer(id, question, value) {
      const { status, stdout } = await project.toolable(['answer', id, String(value), '--question', question])
      if (status !== 0) throw new Error(stdout)
    },
    async cancel(id) {
      await project.toolable(['cancel', id])
    },
    async kill(id) {
      processes.get(id)!.kill('SIGKILL')
      await processes.get(id)!.ended
      await settle()
    },
    async died(id) {
      await processes.get(id)!.ended
      await settle()
    },
    async revive(id) {
      const running = project.start(['workflow', 'resume', id, '--wait'])
      processes.set(id, running)
      await running.said('"runner_start"')
    },
    recorded: async (id) => {
      const steps = new Set(journal(id).filter(({ t }) => t === 'done').map(({ k }) => String(k)))
      return [...steps].flatMap((key) => WORDS[key.replace(/#\d+$/, '')] ?? [])
    },
    async outcome(id) {
      await processes.get(id)!.ended
      const { state, result, error } = await show(id)
      const failed = project.log(id).findLast(({ type }) => type === 'error')
      return { state, ...(state === 'completed' && { result }), ...(error && state === 'failed' && { code: String(error.code).replace(/^E_/, ''), step: failed?.['context']?.step }) }
    },
    describe: async (id) => project.log(id).slice(-15).map((line) => JSON.stringify(line)).join('\n'),
    close: async () => {
      for (const running of processes.values()) running.kill('SIGKILL')
    },
  }
}

/** What the tool of a step writes down, by the key of the step. */
const WORDS: { readonly [key: string]: string } = {
  first: 'first', 'both/a': 'a', 'both/b': 'b', 'both/c': 'c', 'items/0/one': 'item-x', 'items/1/one': 'item-y', optional: 'optional', 'nested/inside': 'inside', last: 'last-left', 'finally/clean': 'clean',
  one: 'one', two: 'two', broken: 'broken', 'two~undo/undo-two': 'undo-two', 'one~undo/undo-one': 'undo-one', made: 'made', 'made~undo/unmade': 'unmade',
}
