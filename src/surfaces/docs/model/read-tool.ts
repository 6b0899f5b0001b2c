import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { flagSpecs } from '../../../define/flags/specs.ts'
import type { ToolCommand } from '../../cli/command-path.ts'
import { usageArguments } from '../../cli/help/options.ts'
import { describeDeclared } from '../../json/describe-errors.ts'
import type { DocTool } from './model.ts'
import { readExamples } from './read-examples.ts'
import { readParameters } from './read-parameters.ts'
import { shapeOf } from './shape.ts'
import { tidyLine, tidyText } from './tidy-text.ts'

/** All that documents say about one tool. `single`: the program has no other. */
export function readTool(manifest: ToolsetManifest, tool: ToolCommand, single: boolean): DocTool {
  const specs = flagSpecs(tool)
  const command = single ? manifest.name : [manifest.name, ...tool.path].join(' ')
  const { description, annotations, timeout } = tool
  const usage = tidyLine(usageArguments(specs))
  return {
    name: tool.name,
    command,
    usage: specs.length === 0 ? '' : usage,
    summary: tidyLine(tool.summary),
    ...(description !== undefined &&
      description.trim() !== tool.summary.trim() &&
      description.trim() !== '' && { description: tidyText(description) }),
    parameters: readParameters(specs),
    examples: readExamples(manifest, tool, command, single),
    errors: Object.entries(describeDeclared(tool.errors)).map(
      ([code, { exit, message, advice, retryable }]) => ({
        code: tidyLine(code),
        exit,
        message: tidyLine(message),
        advice,
        retryable,
      }),
    ),
    ...(tool.outputSchema && { result: shapeOf(tool.outputSchema) }),
    readOnly: annotations.readOnly === true,
    destructive: annotations.destructive === true,
    idempotent: annotations.idempotent === true,
    dryRun: tool.dryRun,
    streaming: tool.streaming,
    session: tool.session,
    ...(timeout !== undefined && { timeout }),
  }
}
