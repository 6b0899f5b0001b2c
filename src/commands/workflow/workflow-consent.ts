import type { Registry } from '../../registry/registry-type.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { annotationsOf } from '../../workflow/source/annotations.ts'
import type { Workflow } from '../../workflow/definition/workflow-type.ts'
import { obtainConsent } from '../run/obtain-consent.ts'

/** Sees to it that somebody agrees to a workflow one of whose tools is destructive; that counts for all of its steps. Throws PERMISSION, CONFIRMATION_REQUIRED. */
export function consentToWorkflow(
  workflow: Workflow,
  registry: Pick<Registry, 'find'>,
  { io, host, globals }: Pick<BuiltinContext, 'io' | 'host' | 'globals'>,
): Promise<void> {
  const { name } = workflow
  const destructive = annotationsOf(workflow, (tool) => registry.find(tool)).destructive === true
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
