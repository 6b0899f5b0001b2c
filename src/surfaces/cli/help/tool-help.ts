import type { ToolsetManifest } from '../../../contract/manifest.ts'
import type { FlagSpec, InjectedFlag } from '../../../define/flags/flag-spec.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS, PROGRAM_FLAGS } from '../../../define/flags/injected.ts'
import { flagSpecs } from '../../../define/flags/specs.ts'
import type { ToolCommand } from '../command-path.ts'
import { compactTool } from './compact.ts'
import { contentSections } from './contents.ts'
import { exampleLines } from './examples.ts'
import { errorRows, exitCodeText } from './exit-codes.ts'
import { columns, createPage, headline, joinSections, paragraph, titled } from './layout.ts'
import type { HelpOptions } from './layout.ts'
import { argumentRows, injectedRows, optionRows, usageArguments } from './options.ts'

/** The help of one tool: examples first, then arguments, options, errors and exit codes. `single`: the program is this tool. */
export function renderToolHelp(
  manifest: ToolsetManifest,
  tool: ToolCommand,
  options: HelpOptions & { readonly single: boolean },
): string {
  const { single } = options
  const specs = flagSpecs(tool)
  if (options.compact) return compactTool(manifest, tool, specs, single)
  const page = createPage(options)
  const name = single ? manifest.name : [manifest.name, ...tool.path].join(' ')
  return joinSections([
    headline(page, name, single ? manifest.version : undefined, tool.summary),
    tool.description !== undefined && tool.description !== tool.summary
      ? paragraph(page, tool.description)
      : [],
    behaviour(tool).map((line) => page.paint('yellow', line)),
    titled(page, 'Usage', [
      `${name} ${usageArguments(specs)}`,
      `${name} '<json>' | - | @input.json`,
    ]),
    titled(
      page,
      'Examples',
      exampleLines(
        page,
        manifest,
        tool.examples.map((example) => ({ tool, example })),
        single,
      ),
    ),
    titled(page, 'Arguments', columns(page, argumentRows(specs))),
    titled(page, 'Options', columns(page, optionRows(specs))),
    titled(page, 'Global options', columns(page, injectedRows(withoutOwn(INJECTED_FLAGS, specs)))),
    titled(
      page,
      single ? 'Instead of running' : 'Instead of running the tool',
      columns(page, injectedRows(questionFlags(specs, single))),
    ),
    ...(single ? contentSections(page, manifest) : []),
    titled(page, 'Errors', columns(page, errorRows(tool.errors))),
    titled(page, 'Exit codes', paragraph(page, exitCodeText(), 2)),
  ])
}

function behaviour({ annotations }: ToolCommand): string[] {
  if (annotations.destructive)
    return ['Destructive: asks before it acts; --yes answers beforehand.']
  return []
}

function questionFlags(specs: readonly FlagSpec[], single: boolean): InjectedFlag[] {
  if (!single) return [...CONTROL_FLAGS]
  const validate = CONTROL_FLAGS.filter(
    (flag) => !PROGRAM_FLAGS.some((other) => other.long === flag.long),
  )
  return withoutOwn([...validate, ...PROGRAM_FLAGS.filter((flag) => flag.long !== 'help')], specs)
}

function withoutOwn(flags: readonly InjectedFlag[], specs: readonly FlagSpec[]): InjectedFlag[] {
  return flags.filter((flag) => !specs.some((spec) => spec.long === flag.long))
}
