import { isObject } from '../../../contract/json.ts'
import type { JsonObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { Preview } from '../../../views/model/wire/tools.ts'
import { findInputProblem } from '../actions/check-input.ts'
import type { FreshTool } from '../actions/find-tool.ts'
import type { Project } from '../project.ts'
import { commandOf } from './command-line.ts'

/** What an input would mean: what is wrong with it, where, and the command that is the same. */
export async function previewInput(
  tool: FreshTool,
  input: JsonObject,
  project: Project,
): Promise<Preview> {
  const { manifest } = await tool.entry.definition.compiled()
  const problem = await findInputProblem(tool, input, project)
  const problems = problem ? problemsOf(problem) : []
  const json = JSON.stringify({ tool: tool.entry.id, input }, undefined, 2)
  try {
    return {
      ok: problems.length === 0,
      problems,
      command: commandOf(tool, manifest, input, project.surroundings),
      json,
    }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return {
      ok: false,
      problems: problems.length > 0 ? problems : problemsOf(error),
      command: '',
      json,
    }
  }
}

function problemsOf({ field = '', message, details }: ToolError): Preview['problems'] {
  const { issues } = details ?? {}
  const told = Array.isArray(issues)
    ? issues.flatMap((issue) =>
        isObject(issue) ? [{ path: String(issue['path']), message: String(issue['message']) }] : [],
      )
    : []
  return told.length > 0 ? told : [{ path: field, message }]
}
