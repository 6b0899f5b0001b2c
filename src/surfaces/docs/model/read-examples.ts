import { isObject } from '../../../contract/json.ts'
import type { Example, ToolsetManifest } from '../../../contract/manifest.ts'
import { readArgs } from '../../args-input.ts'
import { quoteForShell } from '../../../contract/quote-for-shell.ts'
import type { ToolCommand } from '../../cli/command-path.ts'
import { exampleCommand } from '../../cli/help/examples.ts'
import type { DocExample } from './model.ts'
import { toSafeJson } from './safe-json.ts'
import { tidyLine } from './tidy-text.ts'
import { calmCommand } from './touchy.ts'

/** The examples of a tool that call it, each as a command line and as JSON input. */
export function readExamples(
  manifest: ToolsetManifest,
  tool: ToolCommand,
  command: string,
  single: boolean,
): DocExample[] {
  return tool.examples.flatMap((example) => {
    const line = exampleCommand(manifest, tool, example, single)
    if (line === undefined) return []
    const input = example.input ?? inputOf(tool, example)
    const jsonCommand = input && `${command} ${quoteForShell(toSafeJson(input))}`
    return [
      {
        ...(example.description !== undefined && { description: tidyLine(example.description) }),
        command: calmCommand(line),
        ...(jsonCommand !== undefined && jsonCommand !== line && { jsonCommand }),
        ...(Object.hasOwn(example, 'output') &&
          example.output !== undefined && { output: { value: example.output } }),
      },
    ]
  })
}

// What an author wrote as arguments was checked when the tool was compiled; what cannot be read is shown as it was written.
function inputOf(
  tool: ToolCommand,
  { args = [] }: Example,
): { readonly [field: string]: unknown } | undefined {
  try {
    const read = readArgs(tool, args)
    return read?.alone && isObject(read.input) ? read.input : undefined
  } catch {
    return undefined
  }
}
