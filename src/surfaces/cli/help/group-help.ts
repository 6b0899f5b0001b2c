import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { isInside } from '../command-path.ts'
import { commandSections } from './commands.ts'
import { compactCommand } from './compact.ts'
import { createPage, headline, joinSections, titled } from './layout.ts'
import type { HelpOptions } from './layout.ts'

/** The help of a group of commands: `prog pr --help`. */
export function renderGroupHelp(
  manifest: ToolsetManifest,
  path: readonly string[],
  options: HelpOptions,
): string {
  const members = manifest.tools.filter((tool) => isInside(tool, path))
  const name = [manifest.name, ...path].join(' ')
  if (options.compact)
    return `${[`${name} <command>`, ...members.map(compactCommand)].join('\n')}\n`
  const page = createPage(options)
  return joinSections([
    headline(
      page,
      name,
      undefined,
      members.length === 1 ? '1 command' : `${members.length} commands`,
    ),
    titled(page, 'Usage', [`${name} <command> [arguments] [options]`, `${name} <command> --help`]),
    ...commandSections(page, manifest, path),
  ])
}
