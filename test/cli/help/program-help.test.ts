import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { renderGroupHelp, renderProgramHelp } from '../../../src/cli/help.ts'
import { command, fileTools } from './fixtures.ts'

const plain = { columns: 80, color: false }

describe('the help of a program', () => {
  const text = renderProgramHelp(fileTools, plain)

  test('its beginning: examples, commands by group, resources, prompts', () => {
    expect(text.slice(0, text.indexOf('Options of every command')))
      .toBe(`file-tools 1.2.0 — Find and change files

Usage
  file-tools <command> [arguments] [options]
  file-tools <command> --help

Examples
  # All sources
  file-tools find_files '*.ts' --sort name

Commands
  find_files  Find files matching a glob

Commands: pr
  pr list   List pull requests
  pr merge  Merge a pull request (destructive)

Resources
  notes://{id}  One note
  notes://all   All notes

Prompts
  review(code, style?)  Review code

`)
  })

  test('its end: how agents call it', () => {
    expect(text).toContain('\nFor agents\n  file-tools --discover ')
    expect(text).toContain(`  file-tools <command> '{"field":"value"}'\n`)
    expect(text).toContain('completion bash|zsh|fish|powershell')
    expect(text).toContain('-V, --version')
    expect(text).not.toContain('fractalic')
  })

  test('a tool hides the built-in command of its name', () => {
    const shown = renderProgramHelp(
      {
        ...fileTools,
        tools: [
          ...fileTools.tools,
          command({ name: 'completion_make', path: ['completion', 'make'] }),
        ],
      },
      plain,
    )
    expect(shown).toContain('Commands: completion')
    expect(shown).not.toContain('completion bash')
    expect(text).toContain('completion bash')
  })

  test('a program without anything still has help', () => {
    const shown = renderProgramHelp(
      { name: 'empty', version: '0.0.0', tools: [], resources: [], prompts: [] },
      plain,
    )
    expect(shown.startsWith('empty 0.0.0\n\nUsage\n')).toBe(true)
    expect(shown).not.toMatch(/^(Commands|Examples|Resources|Prompts)$/m)
  })

  test('colour adds nothing but colour, and marks what is destructive', () => {
    const coloured = renderProgramHelp(fileTools, { ...plain, color: true })
    expect(stripVTControlCharacters(coloured)).toBe(text)
    expect(coloured).toContain('\u001b[33m(destructive)\u001b[39m')
  })

  test('compact: one line for each tool', () => {
    expect(renderProgramHelp(fileTools, { ...plain, compact: true }))
      .toBe(`file-tools 1.2.0 — Find and change files
Call: file-tools <command> '<json>' (or flags). Schemas: file-tools --schema, file-tools <command> --schema
find_files <pattern> --sort <name|size> … — Find files matching a glob
pr list — List pull requests
pr merge <number> … — Merge a pull request (destructive: needs --yes)
Resources: notes://{id}; notes://all
Prompts: review(code, style?)
`)
  })
})

describe('the help of a group', () => {
  test('lists the commands in it', () => {
    expect(renderGroupHelp(fileTools, ['pr'], plain)).toBe(`file-tools pr — 2 commands

Usage
  file-tools pr <command> [arguments] [options]
  file-tools pr <command> --help

Commands: pr
  pr list   List pull requests
  pr merge  Merge a pull request (destructive)
`)
  })

  test('groups within come after', () => {
    const tools = [
      command({ name: 'a_b_c', path: ['a', 'b', 'c'] }),
      command({ name: 'a_d', path: ['a', 'd'] }),
      command({ name: 'x' }),
    ]
    const text = renderGroupHelp({ ...fileTools, tools }, ['a'], plain)
    expect(text).toContain('Commands: a\n  a d  Does a_d\n\nCommands: a b\n  a b c  Does a_b_c\n')
    expect(text).not.toContain('Does x')
  })

  test('compact', () => {
    expect(renderGroupHelp(fileTools, ['pr'], { ...plain, compact: true }))
      .toBe(`file-tools pr <command>
pr list — List pull requests
pr merge <number> … — Merge a pull request (destructive: needs --yes)
`)
  })
})
