import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  createState,
  registry,
  section,
  sections,
  skillSection,
  tool,
  toolset,
  toolsetSection,
} from 'toolable'
import type { Outcome, RenderedPrompt } from 'toolable'
import { makeFolder } from '../support/run-program.ts'

const HEAD = '---\nname: pdf\ndescription: Fills PDF forms. Use it for {{forms}}.\n---\n'
const TEXT = `${HEAD}# Working with PDFs\n\nUse {{braces}} freely.\n\n## Steps\n\n\`\`\`sh\n# a comment\n\`\`\`\n`

function makeSkill(
  files: { readonly [path: string]: string | Buffer } = { 'SKILL.md': TEXT },
): string {
  const folder = makeFolder()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

const names = ({ tools }: RenderedPrompt): string[] => tools.map(({ name }) => name)

describe('a skill as a section', () => {
  const fill = tool({ name: 'fill_form', summary: 'x', run: () => 1 })

  test('shows its description until it is opened, then its text and its files, headings below its own [8.section-skills]', async () => {
    const folder = makeSkill({
      'SKILL.md': TEXT,
      'references/forms.md': '# Forms',
      'scripts/fill.py': 'print(1)',
      LICENSE: 'MIT',
      '.git/config': 'x',
    })
    const prompt = sections({
      name: 'p',
      sections: [
        section({
          key: 'skills',
          title: 'Skills',
          children: [await skillSection(folder, { tools: [fill] })],
        }),
      ],
    })
    const state = createState()
    const closed = await prompt.render({}, { state })
    expect(closed.text).toContain(
      '## Working with PDFs\n\nFills PDF forms. Use it for {{forms}}.\n\n(Summary.',
    )
    expect(names(closed)).toEqual(['read_section', 'open_sections'])
    prompt.open(['pdf'], state)
    const open = await prompt.render({}, { state })
    expect(open.text).toBe(
      [
        '# Skills',
        '## Working with PDFs',
        'Use {{braces}} freely.',
        '### Steps',
        '```sh\n# a comment\n```',
        'Files of this skill, for `read_skill_file` with {"skill":"pdf","path":"..."}:',
        '- LICENSE\n- references/forms.md\n- scripts/fill.py',
      ].join('\n\n'),
    )
    expect(names(open)).toEqual(['fill_form', 'read_skill_file'])
    expect(
      await open.call('read_skill_file', { skill: 'pdf', path: './references/forms.md' }),
    ).toMatchObject({ ok: true, result: '# Forms' })
  })

  test('says key, title, summary and visibility as its host wants them; two skills share one tool for their files [8.section-skills]', async () => {
    const other = makeSkill({
      'SKILL.md':
        '\ufeff---\r\nname: a1\r\ndescription: >-\r\n  One\r\n  two\r\nlicense: MIT\r\n---\r\nJust text',
      'a.txt': 'A',
    })
    const prompt = sections({
      name: 'p',
      sections: [
        await skillSection('.', {
          cwd: makeSkill({ 'SKILL.md': TEXT, 'b.txt': 'B' }),
          key: 'k',
          title: 'Mine',
          visibility: 'full',
        }),
        await skillSection(other, { visibility: 'full' }),
        await skillSection(makeSkill({ 'SKILL.md': '---\nname: bare\ndescription: d\n---' }), {
          summary: 'Own words.',
        }),
      ],
    })
    const rendered = await prompt.render()
    expect(rendered.text).toContain('# Mine\n\nUse {{braces}} freely.\n\n## Steps')
    expect(rendered.text).toContain('# a1\n\nJust text\n\nFiles')
    expect(rendered.text).toContain('# bare\n\nOwn words.')
    expect(names(rendered)).toEqual(['read_skill_file', 'read_section', 'open_sections'])
    expect(await rendered.call('read_skill_file', { skill: 'a1', path: 'a.txt' })).toMatchObject({
      result: 'A',
    })
    expect(await rendered.call('read_skill_file', { skill: 'pdf', path: 'b.txt' })).toMatchObject({
      result: 'B',
    })
    expect(
      await rendered.call('read_skill_file', { skill: 'bare', path: 'SKILL.md' }),
    ).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } })
  })

  const head = (name: string, description = 'd') => ({
    'SKILL.md': `---\nname: ${name}\ndescription: ${description}\n---\n`,
  })
  test.each<[string, { readonly [path: string]: string | Buffer }, string, RegExp]>([
    ['no SKILL.md', { 'skill.md': TEXT }, 'INVALID_PATH', /there is no SKILL\.md in/],
    [
      'no head',
      { 'SKILL.md': '# PDF' },
      'CONFIG',
      /SKILL\.md has no head between two lines of ---/,
    ],
    ['a head without end', { 'SKILL.md': '---\nname: pdf\n' }, 'CONFIG', /has no head/],
    [
      'a head that is no YAML',
      { 'SKILL.md': '---\nname: [\n---\n' },
      'CONFIG',
      /SKILL\.md, line \d: is not valid YAML/,
    ],
    ['a head that is a list', { 'SKILL.md': '---\n- name\n---\n' }, 'CONFIG', /has no name/],
    [
      'capital letters',
      head('Pdf'),
      'CONFIG',
      /has the name "Pdf"; a name is 1 to 64 small letters/,
    ],
    ['two dashes', head('a--b'), 'CONFIG', /"a--b"/],
    ['a dash at the edge', head('a-'), 'CONFIG', /"a-"/],
    ['65 characters', head('a'.repeat(65)), 'CONFIG', /a name is/],
    ['a number as name', head('5'), 'CONFIG', /has the name 5/],
    ['no description', head('a', '" "'), 'CONFIG', /has no description/],
    [
      '1025 characters of description',
      head('a', 'x'.repeat(1025)),
      'CONFIG',
      /a description of 1025 characters; 1024 are allowed/,
    ],
    [
      'a file beyond 1 MiB',
      { ...head('a'), 'big.bin': Buffer.alloc(1024 * 1024 + 1) },
      'CONFIG',
      /'big\.bin' has 1048577 bytes/,
    ],
    [
      'files without end',
      {
        ...head('a'),
        ...Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, ''])),
      },
      'CONFIG',
      /more than 1000 files and folders/,
    ],
    [
      'files beyond 10 MiB',
      {
        ...head('a'),
        ...Object.fromEntries(
          Array.from({ length: 10 }, (_, index) => [`f${index}`, Buffer.alloc(1024 * 1024)]),
        ),
      },
      'CONFIG',
      /more than 10485760 bytes together/,
    ],
  ])('%s: refused, with the file [8.section-skills]', async (_what, files, code, message) => {
    await expect(skillSection(makeSkill(files))).rejects.toMatchObject({
      name: 'ToolError',
      code,
      message: expect.stringMatching(message) as string,
      suggestion: { fix: expect.any(String) as string },
    })
  })

  test('two skills of one name are refused: their files could not be told apart [8.section-skills]', async () => {
    const both = [
      await skillSection(makeSkill(), { key: 'one' }),
      await skillSection(makeSkill(), { key: 'two' }),
    ]
    expect(() => sections({ name: 'p', sections: both })).toThrow(
      "prompt 'p': two skills are called 'pdf': in section 'one' and in section 'two'",
    )
  })

  test('the longest name and description are fine [8.section-skills]', async () => {
    await expect(
      skillSection(makeSkill(head('a'.repeat(64), 'x'.repeat(1024)))),
    ).resolves.toMatchObject({ key: 'a'.repeat(64) })
  })

  test('links out of the folder, pipes and wrong paths are refused [8.section-skills]', async () => {
    const outside = makeSkill({ 'secret.txt': 'secret' })
    const linked = makeSkill()
    symlinkSync(join(outside, 'secret.txt'), join(linked, 'notes.txt'))
    await expect(skillSection(linked)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining("the link 'notes.txt' leads out of the folder") as string,
    })
    const folderLink = makeSkill()
    symlinkSync(outside, join(folderLink, 'more'))
    await expect(skillSection(folderLink)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining("'more'") as string,
    })
    const pipe = makeSkill()
    execFileSync('mkfifo', [join(pipe, 'pipe')])
    await expect(skillSection(pipe)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining("'pipe' is neither a file nor a folder") as string,
    })
    await expect(skillSection(join(outside, 'nowhere'))).rejects.toMatchObject({
      code: 'INVALID_PATH',
    })
    await expect(skillSection(join(outside, 'secret.txt'))).rejects.toMatchObject({
      code: 'INVALID_PATH',
      message: expect.stringContaining('there is no folder') as string,
    })
    await expect(skillSection('')).rejects.toMatchObject({ code: 'CONFIG' })
    await expect(skillSection('.', { visibilty: 'full' } as never)).rejects.toMatchObject({
      message: expect.stringContaining("did you mean 'visibility'") as string,
    })
  })

  test('read_skill_file reads only what was there, as text, and never leaves the folder, whatever happens to it [8.section-skills]', async () => {
    const outside = makeSkill({ 'secret.txt': 'secret' })
    const folder = makeSkill({
      'SKILL.md': TEXT,
      'a.md': 'A',
      'b.md': 'B',
      'c.md': 'C',
      'd.md': 'D',
      'picture.png': Buffer.from([0x89, 0x50, 0xff]),
    })
    symlinkSync('a.md', join(folder, 'inner.md'))
    symlinkSync('.', join(folder, 'loop'))
    const rendered = await sections({
      name: 'p',
      sections: [await skillSection(folder, { visibility: 'full' })],
    }).render()
    const read = (path: string): Promise<Outcome> =>
      rendered.call('read_skill_file', { skill: 'pdf', path })
    expect(await read('inner.md')).toMatchObject({ ok: true, result: 'A' })
    for (const path of [
      '../secret.txt',
      join(outside, 'secret.txt'),
      'SKILL.md',
      'loop/a.md',
      'later.md',
      '',
    ])
      expect(await read(path)).toMatchObject({ ok: false })
    expect(await read('a.mdd')).toMatchObject({
      error: {
        code: 'NOT_FOUND',
        message: expect.stringContaining("did you mean 'a.md'") as string,
      },
    })
    expect(await read('picture.png')).toMatchObject({
      error: { code: 'INVALID_INPUT', message: "'picture.png' is no text" },
    })
    for (const path of ['a.md', 'b.md', 'c.md', 'd.md']) rmSync(join(folder, path))
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'b.md'))
    execFileSync('mkfifo', [join(folder, 'c.md')])
    writeFileSync(join(folder, 'd.md'), Buffer.alloc(1024 * 1024 + 1, 'x'))
    expect(await read('a.md')).toMatchObject({ ok: false, error: { code: 'PERMISSION' } })
    expect(await read('b.md')).toMatchObject({ ok: false, error: { code: 'PERMISSION' } })
    expect(await read('c.md')).toMatchObject({ ok: false, error: { code: 'PERMISSION' } })
    expect(await read('d.md')).toMatchObject({ ok: false, error: { code: 'OUTPUT_LIMIT' } })
  })
})

describe('a toolset as a section', () => {
  const list = tool({ name: 'list', summary: 'List', run: (_input, ctx) => ctx.prompt?.name })
  const remove = tool({ name: 'remove', summary: 'Remove', run: () => 'removed' })

  test('brings name, description and tools, and calls go through it [8.section-toolsets]', async () => {
    const files = toolset({
      name: 'files',
      version: '2.0.0',
      description: 'Files of {{nobody}}.',
      tools: [list, remove],
    })
    const rendered = await sections({ name: 'p', sections: [toolsetSection(files)] }).render()
    expect(rendered.text).toBe('# files\n\nFiles of {{nobody}}.')
    expect(names(rendered)).toEqual(['list', 'remove'])
    expect(await rendered.call('list')).toMatchObject({
      ok: true,
      result: 'p',
      meta: { tool: 'files.list', version: '2.0.0' },
    })
  })

  test('shows at each rendering what is there then, and refuses names that came twice [8.section-toolsets]', async () => {
    const files = toolset({ name: 'files', tools: [list] })
    const prompt = sections({
      name: 'p',
      sections: [
        toolsetSection(files, { title: 'Files', visibility: 'summary' }),
        section({
          key: 'own',
          title: 'Own',
          tools: [tool({ name: 'mine', summary: 'x', run: () => 1 })],
        }),
      ],
    })
    const before = await prompt.render({}, { open: ['files'] })
    files.add(remove)
    expect((await prompt.render()).text).toContain('# Files\n\nTools: list, remove.')
    expect(names(await prompt.render({}, { open: ['files'] }))).toEqual(['list', 'remove', 'mine'])
    expect(names(before)).toEqual(['list', 'mine'])
    files.add(remove, 'mine')
    await expect(prompt.render()).rejects.toMatchObject({
      code: 'CONFIG',
      message: "prompt 'p': two tools are called 'mine': in section 'files' and in section 'own'",
    })
    await expect(prompt.validate()).rejects.toMatchObject({ code: 'CONFIG' })
  })

  test('only the tools that are wanted; others are named with what was meant [8.section-toolsets]', async () => {
    const files = toolset({ name: 'files', tools: [list, remove] })
    expect(
      names(
        await sections({
          name: 'p',
          sections: [toolsetSection(files, { only: ['list'], body: 'Text.' })],
        }).render(),
      ),
    ).toEqual(['list'])
    expect(() =>
      sections({ name: 'p', sections: [toolsetSection(files, { only: ['lst'] })] }),
    ).toThrow("'only' of section 'files': there is no tool 'lst'; did you mean 'list'?")
    expect(() => toolsetSection(Promise.resolve(files) as never)).toThrow('write await before it')
  })

  test('a registry brings tools of other processes, and answers for them [8.section-toolsets]', async () => {
    const tools = makeSkill({
      'hello.yaml':
        'name: hello\ndescription: Say hello\ncommand: bash-cli\nentry: hello.sh\nparameters:\n  type: object\n  properties:\n    name: {type: string}\n  required: [name]\n',
      'hello.sh': '#!/bin/sh\necho "{\\"said\\":\\"$2\\"}"\n',
    })
    const opened = await registry({
      folders: [tools],
      tools: [
        tool({
          name: 'ask',
          summary: 'Ask',
          run: (_input, ctx) => ctx.ask({ kind: 'confirm', prompt: 'Really?' }),
        }),
      ],
      answer: () => true,
      cache: false,
    })
    try {
      const rendered = await sections({
        name: 'p',
        sections: [toolsetSection(opened, { key: 'all', title: 'All tools' })],
      }).render()
      expect(names(rendered)).toContain('hello')
      expect(await rendered.call('ask')).toMatchObject({ ok: true, result: true })
      expect(await rendered.call('hello', { name: 'Ada' })).toMatchObject({
        ok: true,
        result: { said: 'Ada' },
      })
      expect(await rendered.call('hello', {})).toMatchObject({
        ok: false,
        error: { code: 'MISSING_PARAM' },
      })
      expect((await rendered.toOpenAI()).map((each) => each.function.name).sort()).toEqual([
        'ask',
        'hello',
      ])
    } finally {
      await opened.close()
    }
  })
})
