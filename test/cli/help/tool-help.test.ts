import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ERROR_TABLE } from '../../../src/protocol/errors.ts'
import { getDisplayWidth } from '../../../src/cli/formats/text-layout.ts'
import { formatExitCodes } from '../../../src/cli/help-sections.ts'
import { renderToolHelp } from '../../../src/cli/help.ts'
import { command, fileTools, findFiles, mergePullRequest, oneTool, withFields } from './fixtures.ts'

const plain = { columns: 80, color: false, single: false }

/** The text from one heading up to the next empty line. */
function section(text: string, title: string): string[] {
  const lines = text.split('\n')
  const start = lines.indexOf(title)
  return start < 0 ? [] : lines.slice(start + 1, lines.indexOf('', start))
}

describe('the help of a tool', () => {
  const text = renderToolHelp(fileTools, findFiles, plain)

  test('its beginning: what it is, how it is called, examples before everything else', () => {
    expect(text.slice(0, text.indexOf('Global options')))
      .toBe(`file-tools find_files — Find files matching a glob

Walks a directory tree and gives back every file whose path matches.

Hidden files are skipped.

Usage
  file-tools find_files <pattern> --sort <name|size> [options]
  file-tools find_files '<json>' | - | @input.json

Examples
  # All sources
  file-tools find_files '*.ts' --sort name

  # Below a folder
  file-tools find_files '*.md' --sort size --root 'my docs'

Arguments
  <pattern>  Glob

Options
      --sort <name|size>     (required)
  -r, --root <path>          Where to begin [default: .] [env: FIND_ROOT]
      --max-depth <integer>  How deep to go down the tree; without it there is
                             no limit at all
      --kind <choice>        Kind of entry [file, directory, symlink, socket]
      --[no-]hidden          Hidden ones too
      --exclude <text>...
      --owner <json>

`)
  })

  test('errors with their exit code', () => {
    expect(section(text, 'Errors')).toEqual([
      '  E3101  No files matched [exit 1]',
      '  E4101  Disk busy [exit 75, may work later]',
    ])
  })

  test('global options, controls and exit codes', () => {
    expect(section(text, 'Global options').map((line) => line.trim())).toContain(
      '-v, --verbose                     Say more; -vv says still more',
    )
    expect(
      section(text, 'Instead of running the tool').map((line) => line.trim().split(/ {2,}/)[0]),
    ).toEqual(['--schema', '--manifest', '--describe', '--validate <json>'])
    expect(section(text, 'Exit codes').join(' ')).toContain(
      '0 success, 1 failed, 2 wrong arguments',
    )
    expect(text.endsWith('\n') && !text.endsWith('\n\n')).toBe(true)
  })

  test('every exit code of the table of errors is explained', () => {
    const explained = new Set(
      formatExitCodes()
        .split(', ')
        .map((entry) => Number.parseInt(entry)),
    )
    expect(
      Object.values(ERROR_TABLE)
        .map((row) => row.exit)
        .filter((exit) => !explained.has(exit)),
    ).toEqual([])
  })

  test.each([40, 60, 80, 100, 200, 0, Number.NaN])(
    'no line of prose is longer than the terminal: %s columns',
    (columns) => {
      const width = columns > 0 ? Math.min(columns, 100) : 80
      const lines = renderToolHelp(fileTools, findFiles, { ...plain, columns }).split('\n')
      const examples = lines.filter((line) => line.includes('file-tools find_files'))
      expect(
        lines.filter((line) => !examples.includes(line) && getDisplayWidth(line) > width),
      ).toEqual([])
    },
  )

  test('wide characters count as two columns', () => {
    const tool = withFields({ a: { description: '説明 '.repeat(30) }, b: { description: 'x' } })
    const lines = renderToolHelp(fileTools, tool, { ...plain, columns: 60 }).split('\n')
    expect(lines.filter((line) => line.includes('説明')).length).toBeGreaterThan(2)
    expect(lines.filter((line) => line.includes('説明') && getDisplayWidth(line) > 60)).toEqual([])
  })

  test('colour adds nothing but colour', () => {
    const coloured = renderToolHelp(fileTools, findFiles, { ...plain, color: true })
    expect(coloured).toContain('\u001b[1mUsage\u001b[22m')
    expect(stripVTControlCharacters(coloured)).toBe(text)
    expect(text).not.toContain('\u001b')
  })

  test('text of the author cannot steer the terminal', () => {
    const tool = withFields(
      { a: { description: 'a\u001b]0;title\u0007b\u001b[2Jc' } },
      { summary: 'x\u001b[31my', errors: { E3101: { message: '\u009b2J' } } },
    )
    expect(renderToolHelp(fileTools, tool, plain)).not.toMatch(/[\u001b\u009b\u0007]/)
  })

  test('a destructive tool says so', () => {
    expect(renderToolHelp(fileTools, mergePullRequest, plain)).toContain(
      '\nDestructive: asks before it acts; --yes answers beforehand.\n',
    )
    expect(text).not.toContain('Destructive')
  })

  test('choices of an argument, optional arguments and lists', () => {
    expect(section(renderToolHelp(fileTools, mergePullRequest, plain), 'Arguments')).toEqual([
      '  <number>  (integer)',
      '  [method]  [squash, rebase]',
    ])
    expect(
      renderToolHelp(
        fileTools,
        withFields({ files: { type: 'array' } }, { positional: ['files'] }),
        plain,
      ),
    ).toContain('tool [files]... [options]')
  })

  test('hidden fields are not shown, and own fields replace ours', () => {
    const tool = withFields(
      {
        secret: {},
        limit: { description: 'Mine' },
        timeout: { type: 'number', description: 'Mine too' },
        dry_run: { type: 'boolean' },
      },
      { flags: { secret: { hidden: true } }, session: true },
    )
    const shown = renderToolHelp(fileTools, tool, plain)
    expect(shown).not.toContain('--secret ')
    expect(section(shown, 'Options')).toEqual([
      '  --limit <json>      Mine',
      '  --timeout <number>  Mine too',
      '  --dry-run',
    ])
    expect(
      section(shown, 'Global options').filter((line) => /--(limit|timeout|dry-run) /.test(line)),
    ).toEqual([])
    expect(shown).toContain('--session')
  })

  test('an example without input is left out', () => {
    expect(
      renderToolHelp(
        fileTools,
        command({ name: 'x', examples: [{ description: 'nothing' }] }),
        plain,
      ),
    ).not.toContain('Examples')
  })
})

describe('the help of a program of one tool', () => {
  const text = renderToolHelp(oneTool, findFiles, { ...plain, single: true })

  test('has the version, no tool name, and the flags of the program', () => {
    expect(text.startsWith('find-files 2.0.0 — Find files matching a glob\n')).toBe(true)
    expect(text).toContain(`\n  find-files '*.ts' --sort name\n`)
    const flags = section(text, 'Instead of running').map((line) => line.trim().split(/ {2,}/)[0])
    expect(flags).toContain('--discover')
    expect(flags).toContain('--validate <json>')
    expect(new Set(flags).size).toBe(flags.length)
  })
})

describe('the compact help of a tool', () => {
  test('is a line for each fact', () => {
    expect(renderToolHelp(fileTools, findFiles, { ...plain, compact: true }))
      .toBe(`file-tools find_files — Find files matching a glob
Walks a directory tree and gives back every file whose path matches. Hidden files are skipped.
Example: file-tools find_files '*.ts' --sort name
Example: file-tools find_files '*.md' --sort size --root 'my docs'
<pattern> (required): Glob
--sort <name|size> (required)
--root <path> (default "."; env FIND_ROOT): Where to begin
--max-depth <integer>: How deep to go down the tree; without it there is no limit at all
--kind <choice> (one of file, directory, symlink, socket): Kind of entry
--[no-]hidden (default false): Hidden ones too
--exclude <text>...
--owner <json>
JSON: file-tools find_files '<json>'. Schema: file-tools find_files --schema. Output: --output json|jsonl|text|yaml|toon|md|csv
Errors: E3101 No files matched; E4101 Disk busy
`)
  })

  test('is much shorter than the one for people', () => {
    expect(renderToolHelp(fileTools, findFiles, { ...plain, compact: true }).length).toBeLessThan(
      renderToolHelp(fileTools, findFiles, plain).length / 3,
    )
  })
})
