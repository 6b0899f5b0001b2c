import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { renderManPage } from '../../../src/docs/kinds/man.ts'
import { buildDocModel, isMarked } from '../../../src/docs/model.ts'
import { command, fileTools, oneTool } from '../../cli/help/fixtures.ts'
import { hostileProgram, largeProgram } from './hostile.ts'
import { rounds } from '../../support/rounds.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolable-man-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What groff says about a page with every warning switched on. */
function groff(page: string, device: string): string {
  const { stderr, status } = spawnSync('groff', ['-man', '-ww', '-z', `-T${device}`], {
    input: page,
    encoding: 'utf8',
  })
  return status === 0 ? stderr : `${status} ${stderr}`
}

/** The page as people see it, and what man says about it. */
function man(
  page: string,
  locale: string,
  width = 80,
): { stdout: string; stderr: string; status: number | null } {
  const file = join(folder, 'page.1')
  writeFileSync(file, page)
  return spawnSync('man', ['--warnings', '-l', file], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      LC_ALL: locale,
      MANWIDTH: String(width),
      MAN_KEEP_FORMATTING: '',
    },
  })
}

describe('a manual page [5.docs]', () => {
  test('is rendered with its sections', () => {
    const { stdout, stderr, status } = man(renderManPage(buildDocModel(fileTools)), 'C.UTF-8')
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    expect(stdout.split('\n').filter((line) => /^[A-Z]/.test(line) && !line.includes('('))).toEqual(
      [
        'NAME',
        'SYNOPSIS',
        'DESCRIPTION',
        'COMMANDS',
        'RESOURCES',
        'PROMPTS',
        'OPTIONS OF EVERY COMMAND',
        'OPTIONS OF THE PROGRAM',
        'ENVIRONMENT',
        'EXIT STATUS',
        'ERRORS',
      ],
    )
    expect(stdout).toContain('       file-tools - Find and change files\n')
    expect(stdout).toContain(
      '       -r, --root <path>\n              Where to begin. [path; default "."; environment FIND_ROOT]\n',
    )
    expect(stdout).toContain(
      "           file-tools find_files '*.md' --sort size --root 'my docs'\n",
    )
  })

  test('of a program with one tool has its arguments', () => {
    const page = renderManPage(buildDocModel(oneTool))
    expect(man(page, 'C').stdout).toMatch(
      /SYNOPSIS\n +find-files <pattern> --sort <name\|size> \[options\]\n/,
    )
    expect(isMarked(page, 'find-files', 'man')).toBe(true)
  })

  test('shows nasty text as it is', () => {
    const nasty = [
      '.TH evil 1',
      "'br",
      '\\fBbold\\n(xx',
      'a\\',
      '"quoted" \'x\' `y` ^ ~',
      'C:\\path\\new',
      '--dash - en',
      '.',
      'été 中文 😀',
    ]
    const page = renderManPage(
      buildDocModel({
        ...oneTool,
        description: nasty.join('\n\n'),
        tools: [
          command({
            name: 'x',
            examples: [{ input: { x: ".a\n.b\n'c\\" } }],
            inputSchema: { type: 'object', properties: { x: { type: 'string' } } },
          }),
        ],
      }),
    )
    const { stdout, stderr } = man(page, 'C.UTF-8')
    expect(stderr).toBe('')
    for (const text of nasty) expect(stdout).toContain(`\n       ${text}\n`)
    expect(stdout).toContain("           find-files --x '.a\n           .b\n           '\\''c\\'\n")
    expect(page).toMatch(/^[\n\x20-\x7e]*$/)
  })

  test('gives no warning on any device, whatever the program says', () => {
    fc.assert(
      fc.property(
        hostileProgram(0, 4),
        fc.constantFrom('utf8', 'ascii', 'latin1', 'ps'),
        (manifest, device) => {
          const page = renderManPage(buildDocModel(manifest))
          expect(groff(page, device)).toBe('')
          expect(page).toMatch(/^[\n\x20-\x7e]*$/)
        },
      ),
      { numRuns: rounds(25) },
    )
    for (const text of ['Ü'.repeat(150), '中'.repeat(150), 'x'.repeat(150), '.\\'.repeat(75)])
      expect(groff(renderManPage(buildDocModel(largeProgram(21, { text }))), 'utf8')).toBe('')
  })

  test('nor on a narrow terminal that knows ASCII only', () => {
    const page = renderManPage(
      buildDocModel({
        ...fileTools,
        description: `${'中文'.repeat(50)} ${'https://example.com/a-long-path/'.repeat(4)} ${'word'.repeat(30)}`,
      }),
    )
    for (const locale of ['C', 'C.UTF-8']) expect(man(page, locale, 40).stderr).toBe('')
  })
})
