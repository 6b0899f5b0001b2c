import type { Example, ToolsetManifest } from '../../../contract/manifest.ts'
import { flagSpecs } from '../../../define/flags/specs.ts'
import { quoteForShell } from '../../../contract/quote-for-shell.ts'
import { commandLine } from '../command-line.ts'
import type { ToolCommand } from '../command-path.ts'
import { oneLine } from './layout.ts'
import type { Page } from './layout.ts'

/** An example with the tool that it calls. */
export type ToolExample = { readonly tool: ToolCommand; readonly example: Example }

/** Each example as a comment and the command line under it, ready to be pasted. */
export function exampleLines(
  page: Page,
  manifest: ToolsetManifest,
  examples: readonly ToolExample[],
  single: boolean,
): string[] {
  const blocks = examples.flatMap(({ tool, example }) => {
    const line = exampleCommand(manifest, tool, example, single)
    if (line === undefined) return []
    return [
      example.description === undefined
        ? [line]
        : [page.paint('dim', `# ${oneLine(example.description)}`), line],
    ]
  })
  return blocks.flatMap((block, index) => (index > 0 && block.length > 1 ? ['', ...block] : block))
}

/** The command line of an example; undefined when it gives neither input nor arguments. */
export function exampleCommand(
  manifest: ToolsetManifest,
  tool: ToolCommand,
  example: Example,
  single: boolean,
): string | undefined {
  const path = single ? [] : tool.path
  if (example.args)
    return [manifest.name, ...[...path, ...example.args].map(quoteForShell)].join(' ')
  return (
    example.input &&
    commandLine(manifest.name, path, flagSpecs(tool), example.input, single ? [tool.name] : [])
  )
}
