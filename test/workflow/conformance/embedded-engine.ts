import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getRunPaths } from '../../../src/runner/run-paths.ts'
import { submitAnswer } from '../../../src/runner/answer-channels.ts'
import type { RunQuestion } from '../../../src/runner/questions.ts'
import { readWorkflowRun } from '../../../src/workflow/run-record.ts'
import { untilToolsAreGone } from '../../support/processes.ts'
import type { Running } from '../../support/run-program.ts'
import { COUNT, makeProject } from '../support.ts'
import type { Line } from '../support.ts'
import type { EngineUnderTest } from './engine-under-test.ts'

/** The embedded engine, in processes of its own that the suite kills. */
export async function openEmbedded(): Promise<EngineUnderTest> {
  const project = makeProject({ 'workflow/count.sh': COUNT })
  const processes = new Map<string, Running>()
  const settle = (): Promise<void> => untilToolsAreGone(join(project.folder, 'tools'))
  // Looked at and answered here, as the commands do it: a start of each of them for every look
  // would be most of what this suite costs.
  const open = async (id: string): Promise<Awaited<ReturnType<typeof readWorkflowRun>>['open']> =>
    (await readWorkflowRun(getRunPaths(project.runs, id))).open
  const journal = (id: string): readonly any[] => {
    // The last line may be torn, which is what the engine has to live with.
    return readFileSync(join(project.runs, id, 'journal.jsonl'), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown)
  }
  let made = 0
  return {
    project,
    crashPoints: [
      'journal.append#3',
      'journal.append#9',
      'journal.written#4',
      'journal.synced#4',
      'step.performed#1',
      'step.performed#6',
    ],
    async start(definition, { crashAt } = {}) {
      const id = `r-${String((made += 1)).padStart(10, '0')}`
      const file = project.write(`flow-${made}.json`, JSON.stringify(definition))
      const running = project.start(
        ['workflow', 'run', file, '--wait', '--id', id],
        crashAt === undefined ? {} : { env: { TOOLABLE_CRASH_AT: crashAt } },
      )
      processes.set(id, running)
      await running.said('"runner_start"')
      return id
    },
    questions: async (id) => (await open(id)).map((question) => question.id),
    async answer(id, question, value) {
      await submitAnswer(
        getRunPaths(project.runs, id),
        (await open(id)).find((one) => one.id === question) as unknown as RunQuestion,
        value,
      )
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
      const steps = new Set(
        journal(id)
          .filter(({ t }) => t === 'done')
          .map(({ k }) => String(k)),
      )
      return [...steps].flatMap((key) => WORDS[key.replace(/#\d+$/, '')] ?? [])
    },
    isOver: async (id) => project.log(id).at(-1)?.type === 'runner_end',
    async outcome(id) {
      await processes.get(id)!.ended
      const [{ state }, { result, code, context }] = project.log(id).slice(-2).reverse() as [
        Line,
        Line,
      ]
      return {
        state,
        ...(state === 'completed' && { result }),
        ...(state === 'failed' && { code: String(code).replace(/^E_/, ''), step: context?.step }),
      }
    },
    describe: async (id) =>
      project
        .log(id)
        .slice(-15)
        .map((line) => JSON.stringify(line))
        .join('\n'),
    close: async () => {
      for (const running of processes.values()) running.kill('SIGKILL')
    },
  }
}

/** What the tool of a step writes down, by the key of the step. */
const WORDS: { readonly [key: string]: string } = {
  first: 'first',
  'both/a': 'a',
  'both/b': 'b',
  'both/c': 'c',
  'items/0/one': 'item-x',
  'items/1/one': 'item-y',
  optional: 'optional',
  'nested/inside': 'inside',
  last: 'last-left',
  'finally/clean': 'clean',
  one: 'one',
  two: 'two',
  broken: 'broken',
  'two~undo/undo-two': 'undo-two',
  'one~undo/undo-one': 'undo-one',
  made: 'made',
  'made~undo/unmade': 'unmade',
}
