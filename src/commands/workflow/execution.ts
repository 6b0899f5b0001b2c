/**
 * What the engines share: the requested execution, and consent to a workflow with destructive
 * tools.
 */

import type { BuiltinContext } from '../../cli/types.ts'
import type { Registry } from '../../registry/types.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { deriveAnnotations } from '../../workflow/registry-source.ts'
import type { ProgressStyle } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { obtainConsent } from '../run/consent.ts'
import type { RunFlags } from '../run/create-run.ts'

/** A workflow that is to be executed, as the command line asks for it. */
type WorkflowExecutionRequest = {
  readonly workflow: Workflow
  readonly input: JsonObject
  readonly file?: string
  readonly surroundings: RegistryFlags
  readonly id?: string
  readonly detach: boolean
  readonly wait: boolean
  readonly progress: ProgressStyle
  /** Executes it once for this key. */
  readonly key?: string
  readonly answers?: { readonly [key: string]: unknown }
  /** Which of them are text as it was typed. */
  readonly typedAnswers?: readonly string[]
  /** Seconds. */
  readonly timeout?: number
  /** Where the server of a distributed engine listens. */
  readonly ingress?: string
  /** Where that server is administered. */
  readonly admin?: string
}

/** Executes a workflow on an engine while its caller looks on; gives the exit status. */
export type ExecuteWorkflow = (
  wanted: WorkflowExecutionRequest,
  context: BuiltinContext,
) => Promise<number>

/** What is said of an execution, as the flags of a resume say it. */
export function toRunFlags({
  detach,
  wait,
  answers = {},
  surroundings: { config },
}: WorkflowExecutionRequest): RunFlags & { readonly config?: string } {
  return compact({
    detach,
    wait,
    answer: Object.entries(answers).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
    config,
  })
}

/**
 * Sees to it that somebody agrees to a workflow one of whose tools is destructive; that counts for
 * all of its steps. Throws PERMISSION, CONFIRMATION_REQUIRED.
 */
export function obtainWorkflowConsent(
  workflow: Workflow,
  registry: Pick<Registry, 'find'>,
  { io, host, globals }: Pick<BuiltinContext, 'io' | 'host' | 'globals'>,
): Promise<void> {
  const { name } = workflow
  const destructive =
    deriveAnnotations(workflow, (tool) => registry.find(tool)).destructive === true
  return obtainConsent(
    {
      name,
      destructive,
      agreeing: { fix: 'Say --yes', example: `toolable workflow run ${name} --yes ...` },
    },
    { agreed: globals.yes === true, dryRun: false },
    io,
    host.signal,
  )
}
