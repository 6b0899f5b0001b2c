import { resolve } from 'node:path'
import { toMilliseconds } from '../../contract/duration.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import { loadWorkflow } from '../../workflow/definition/load-workflow.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import type { Surroundings } from '../config/load.ts'
import { chooseProgress } from '../progress/progress-flag.ts'
import { readAnswers } from '../run/read-answers.ts'
import { surroundingsOf } from '../run/surroundings.ts'
import { ENGINES } from './engines.ts'
import { findWorkflow } from './find-workflow.ts'
import { readWorkflowInput } from './read-input.ts'

type Flags = Surroundings & {
  readonly workflow: string
  readonly input?: readonly string[]
  readonly detach?: boolean
  readonly wait?: boolean
  readonly answer?: readonly string[]
  readonly id?: string
  readonly engine: string
  readonly ingress?: string
  readonly admin?: string
  readonly progress?: string
}

/** Executes a workflow; gives the exit status. What cannot work is told before anything begins. */
export async function runWorkflow(flags: Flags, context: BuiltinContext): Promise<number> {
  const { io, host, globals } = context
  const {
    workflow: word,
    input: words = [],
    detach = false,
    wait = false,
    answer,
    id,
    engine,
    ingress,
    admin,
  } = flags
  if (globals.secretFiles.length > 0)
    throw new ToolError('USAGE', 'a workflow has no secrets of its own', {
      field: 'secret-file',
      suggestion: 'Name the files in the manifests of its tools',
    })
  if (id !== undefined && globals.idempotencyKey !== undefined)
    throw new ToolError('USAGE', '--id and --idempotency-key both say which run it is', {
      field: 'id',
      suggestion: 'Give one of them',
    })
  if (!Object.hasOwn(ENGINES, engine))
    throw new ToolError(
      'INVALID_INPUT',
      unknownName('engine', engine, Object.keys(ENGINES)).message,
      { field: 'engine' },
    )
  const progress = chooseProgress(flags.progress, globals, io)
  const file = await findWorkflow(word, { cwd: io.cwd, config: flags.config })
  const workflow = await loadWorkflow(file, { cwd: io.cwd })
  const input = await readWorkflowInput(words, workflow, io, host.signal)
  if (globals.dryRun) return (await import('./print-plan.ts')).printPlan(workflow, input, context)
  const execute = await ENGINES[engine]!()
  return execute(
    {
      workflow,
      file: resolve(io.cwd, file),
      input,
      surroundings: surroundingsOf(flags),
      detach,
      wait,
      progress,
      ...(id !== undefined && { id }),
      ...(globals.idempotencyKey !== undefined && { key: globals.idempotencyKey }),
      ...(answer && readAnswers(answer)),
      ...(globals.timeout !== undefined && {
        timeout: toMilliseconds(globals.timeout, 'timeout') / 1000,
      }),
      ...(ingress !== undefined && { ingress }),
      ...(admin !== undefined && { admin }),
    },
    context,
  )
}
