import { describe, expect, test } from 'vitest'
import { makeFolder, runProgram, runShell } from '../support/run-program.ts'
import { runInTerminal } from '../support/run-in-terminal.ts'
import { docs, filesIn } from './support.ts'

const KINDS = {
  skill:
    /^---\nname: documented\ndescription: "Keeps things in order\. Use when asked to find things; remove a thing; or count things\. Topics: search, change\."\n/,
  agents: /^<!-- toolable:documented begin -->\n/,
  claude: /^<!-- toolable:documented begin -->\n/,
  command: /^==> \.claude\/commands\/find\.md <==\n---\ndescription: "Find things"\n/,
  subagent: /^---\nname: documented\n/,
  llms: /^# documented\n\n> Keeps things in order\n/,
  man: /^\.\\" toolable:documented docs man: generated, edits are lost; renew with: documented docs man --write\n\.TH "DOCUMENTED" "1" "" "documented 1\.0\.0" "User Commands"\n/,
  openapi: /^\{\n {2}"openapi": "3\.1\.1",\n/,
  markdown: /^# documented\n\nVersion 1\.0\.0\n/,
}

describe('docs prints [5.docs]', () => {
  test.each(Object.entries(KINDS))(
    '%s as it is, in a pipe too, and writes nothing',
    async (kind, start) => {
      const folder = makeFolder()
      const { status, stdout, stderr } = await docs(folder, [kind])
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(stdout).toMatch(start)
      expect(stdout.endsWith('\n')).toBe(true)
      expect(filesIn(folder)).toEqual({})
      expect((await docs(folder, [kind])).stdout).toBe(stdout)
    },
  )

  test('what is for agents holds what they need', async () => {
    const { stdout } = await docs(makeFolder(), ['skill'], 'small')
    for (const heading of [
      '## Quick reference',
      '## Rules',
      '## Commands',
      '### search',
      '#### `documented find`',
      '##### Examples',
      '### change',
      '## Errors',
      '## Exit codes',
    ])
      expect(stdout).toContain(`\n${heading}\n`)
    expect(stdout).toContain(
      '```bash\n# A hammer\ndocumented find hammer\ndocumented find \'{"what":"hammer"}\'\n```\n\nThe `result` of the answer:\n\n```json\n["hammer 1","hammer 2"]\n```\n',
    )
    expect(stdout).toContain(
      '- `E3101` (exit 1): There is no such thing. Change the request as the message says and call again.\n',
    )
    expect(stdout).toContain('- Destructive: `documented remove`. First call with `--dry-run`')
  })

  test('all files with their texts as an outcome when one is asked for', async () => {
    const { json } = await docs(makeFolder(), ['skill', '--json'])
    expect(json).toMatchObject({ ok: true, meta: { tool: 'documented.docs', version: '1.0.0' } })
    expect(json.result.map(({ path }: { path: string }) => path)).toEqual(
      ['SKILL.md', 'references/find.md', 'references/remove.md', 'references/count.md'].map(
        (path) => `skills/documented/${path}`,
      ),
    )
    expect(json.result[0].text).toMatch(KINDS.skill)
    expect((await docs(makeFolder(), ['man', '-o', 'yaml'])).stdout).toMatch(/^ok: true\n/)
    expect((await docs(makeFolder(), ['man', '-o', 'text'])).stdout).toMatch(KINDS.man)
  })

  test('one of many tools, by either spelling', async () => {
    const { stdout } = await docs(makeFolder(), ['command', '--tool', 'find'])
    expect(stdout).toMatch(
      /^---\ndescription: "Find things"\nargument-hint: "<what> \[options\]"\nallowed-tools: "Bash\(documented find:\*\)"\n---\n/,
    )
    expect(
      (await docs(makeFolder(), ['llms', '--tool', 'find', '--tool', 'count'])).stdout,
    ).not.toContain('remove')
    expect(
      Object.keys((await docs(makeFolder(), ['openapi', '--tool', 'find'])).json.paths),
    ).toEqual(['/tools/find'])
  })

  test('what it cannot do, with the way out', async () => {
    const unknown = await docs(makeFolder(), ['skil'])
    expect(unknown.status).toBe(2)
    expect(unknown.json.error).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining("did you mean 'skill'?"),
    })
    expect((await docs(makeFolder(), [])).json.error).toMatchObject({
      code: 'MISSING_PARAM',
      message: 'kind is required',
    })
    const tool = await docs(makeFolder(), ['skill', '--tool', 'fund'])
    expect(tool.status).toBe(66)
    expect(tool.json.error).toMatchObject({
      code: 'NOT_FOUND',
      message: "there is no tool 'fund'; did you mean 'find'?",
      field: 'tool',
    })
    const both = await docs(makeFolder(), ['skill', '--write', '--check'])
    expect(both.status).toBe(2)
    expect(both.json.error).toMatchObject({
      code: 'USAGE',
      message: '--check writes nothing, so it cannot stand beside --write',
    })
  })

  test('an output that cannot be written is a failure', async () => {
    const { status } = await runShell('documented.mjs', '$PROG docs markdown > /dev/full')
    expect(status).not.toBe(0)
  })

  test('help and completion know it', async () => {
    expect((await runProgram('documented.mjs', ['--help'])).stdout).toContain(
      'docs skill|agents|claude|command|subagent|llms|man|openapi|markdown',
    )
    expect((await docs(makeFolder(), ['--help'])).stdout).toContain('documented docs skill --write')
    const { stdout } = await runProgram('documented.mjs', ['__complete', '--', 'docs', 'm'])
    expect(stdout).toContain('man')
    expect(stdout).toContain('markdown')
  })

  test('a terminal gets the document too', async () => {
    const { status, screen } = await runInTerminal('documented.mjs', ['docs', 'agents'])
    expect(status).toBe(0)
    expect(screen).toMatch(/^<!-- toolable:documented begin -->\r\n/)
  })
})
