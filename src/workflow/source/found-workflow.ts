import type { Context } from '../../contract/context.ts'
import type { JsonObject } from '../../contract/json.ts'
import { defineTool } from '../../define/tool.ts'
import type { ToolDefinition } from '../../define/tool-type.ts'
import type { FoundTool } from '../../registry/found.ts'
import { annotationsOf } from './annotations.ts'
import type { LoadedWorkflow } from './load-workflows.ts'
import type { WorkflowHost } from './workflow-host.ts'
import { rememberWorkflow } from './workflow-of.ts'

const ANY_INPUT = { type: 'object', additionalProperties: true } as const

/** A workflow as a tool. A call of it is a run on record, wherever it comes from. */
export function foundWorkflow(
  source: string,
  loaded: LoadedWorkflow,
  host: WorkflowHost,
): FoundTool {
  const { workflow, file } = loaded
  const { name, version, description, input = ANY_INPUT } = workflow
  const summary = workflow.summary ?? `The workflow ${name}`
  const define = (called: string): ToolDefinition =>
    defineTool({
      name: called,
      summary,
      ...(description !== undefined && { description }),
      input,
      tags: TAGS,
      annotations: annotationsOf(workflow, (tool) => host.opened().find(tool)),
      // Its fields are its own, whatever they are called.
      reserved: false,
      run: (given: JsonObject, ctx: Context) =>
        track(host, async () =>
          (await import('./execute-workflow.ts')).executeWorkflow(
            { loaded, input: given },
            ctx,
            host,
          ),
        ),
    })
  const found: FoundTool = {
    source,
    ...(version !== undefined && { version }),
    name,
    tier: file === undefined ? 'in-process' : 'manifest',
    kind: 'workflow',
    ...(file !== undefined && { location: file }),
    summary,
    tags: TAGS,
    define,
    composed: true,
  }
  return rememberWorkflow(found, loaded)
}

const TAGS = ['workflow']

function track<Result>({ running }: WorkflowHost, work: () => Promise<Result>): Promise<Result> {
  const done = work().finally(() => running.delete(done))
  running.add(done)
  return done
}
