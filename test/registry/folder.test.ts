import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { registry } from 'toolable'
import type { FolderOptions, Registry } from 'toolable'
import { describe, expect, test } from 'vitest'
import { fixture, makeFolder } from '../support/run-program.ts'
import { answerJson, bodyOf, listen } from './support/http.ts'
import { withoutSlow } from '../support/problems.ts'

type Files = { readonly [path: string]: string }

const SIMPLE = `if [ "$1" = '{"__test__": true}' ]; then echo '{"success": true, "_simple": true}'; exit; fi\n`
const TOLD = (name: string) => `# toolable: {"name": "${name}", "summary": "Says ${name}"}\n`

function write(folder: string, files: Files): string {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (text.startsWith('#!')) chmodSync(file, 0o755)
  }
  return folder
}

async function open(folder: string, options: Partial<FolderOptions> = {}): Promise<Registry> {
  return registry({
    cwd: folder,
    folders: [{ path: 'tools', ...options }],
    cache: join(folder, 'cache'),
  })
}

async function use<T>(
  folder: string,
  work: (reg: Registry) => T | Promise<T>,
  options?: Partial<FolderOptions>,
): Promise<T> {
  const reg = await open(folder, options)
  try {
    return await work(reg)
  } finally {
    await reg.close()
  }
}

const names = (reg: Registry): readonly string[] =>
  reg
    .list()
    .map(({ id }) => id)
    .sort()
const reasons = (reg: Registry): { readonly [file: string]: string } =>
  Object.fromEntries(
    reg.problems().map(({ location, reason }) => [location.split('/tools/').at(-1)!, reason]),
  )
const cacheOf = (folder: string): string =>
  join(folder, 'cache', readdirSync(join(folder, 'cache'))[0]!)

describe('what is a tool in a folder', () => {
  test("[6.fractalic-manifest] [6.simple-json] the specification's own examples: a manifest whose entry is written from the project, and a script that answers the test", async () => {
    const folder = write(makeFolder(), {
      'tools/img_resize.yaml':
        '# tools/img_resize.yaml\nname: resize_image\ndescription: "Resize and save an image to disk"\ncommand: python-cli          # python / python-cli / bash-cli / bash / mcp\nentry: tools/resize.py\nparameters:\n  type: object\n  properties:\n    infile:  {type: string, description: "Path to source image"}\n    width:   {type: integer}\n    outfile: {type: string}\n  required: [infile, width]\n',
      'tools/resize.py': 'import json, sys\nprint(json.dumps({"argv": sys.argv[1:]}))\n',
      'tools/template.py':
        '#!/usr/bin/env python3\n"""Tool description goes here."""\nimport json, sys\n\ndef process_data(data):\n    """Main processing function."""\n    action = data.get("action")\n    if action == "example":\n        return {"result": "success", "data": data.get("param", "default")}\n    return {"error": f"Unknown action: {action}"}\n\ndef main():\n    # Test mode for autodiscovery\n    if len(sys.argv) == 2 and sys.argv[1] == \'{"__test__": true}\':\n        print(json.dumps({"success": True, "_simple": True}))\n        return\n    \n    # Optional: Schema dump for rich LLM integration\n    if len(sys.argv) == 2 and sys.argv[1] == "--fractalic-dump-schema":\n        schema = {\n            "description": "Tool description",\n            "parameters": {\n                "type": "object",\n                "properties": {\n                    "action": {"type": "string", "enum": ["example"], "description": "Action to perform"},\n                    "param": {"type": "string", "description": "Optional parameter"}\n                },\n                "required": ["action"]\n            }\n        }\n        print(json.dumps(schema, ensure_ascii=False))\n        return\n    \n    # Process JSON input\n    try:\n        if len(sys.argv) != 2:\n            raise ValueError("Expected exactly one JSON argument")\n        params = json.loads(sys.argv[1])\n        result = process_data(params)\n        print(json.dumps(result, ensure_ascii=False))\n    except Exception as e:\n        print(json.dumps({"error": str(e)}, ensure_ascii=False))\n        sys.exit(1)\n\nif __name__ == "__main__": \n    main()\n',
    })
    await use(folder, async (reg) => {
      expect(reg.problems().filter(({ severity }) => severity === 'error')).toEqual([])
      expect(reg.list()).toMatchObject([
        {
          id: 'tools.resize_image',
          kind: 'fractalic manifest',
          tier: 'manifest',
          summary: 'Resize and save an image to disk',
        },
        { id: 'tools.template', kind: 'schema dump', tier: 'local' },
      ])
      expect(await reg.call('resize_image', { infile: 'a.png', width: 3 })).toMatchObject({
        ok: true,
        result: { argv: ['--infile', 'a.png', '--width', '3'] },
      })
      expect(await reg.call('template', { action: 'example', param: 'ü' })).toMatchObject({
        ok: true,
        result: { result: 'success', data: 'ü' },
      })
    })
  })

  test('[6.reserved-names] reserved names, other files and folders are left alone, and nothing of them is run', async () => {
    const bad = `#!/bin/sh\necho run >> "$(dirname "$0")/marks"\n`
    const folder = write(makeFolder(), {
      'tools/run.py': bad,
      'tools/_lib/cli.py': bad,
      'tools/venv/cli.sh': bad,
      'tools/shared_venv/main.py': bad,
      'tools/node_modules/cli.js': bad,
      'tools/.hidden/cli.sh': bad,
      'tools/.secret.sh': bad,
      'tools/registry/cli.sh': bad,
      'tools/__pycache__/tool.py': bad,
      'tools/README.md': '# Hi',
      'tools/data.json': '{}',
      'tools/deep/er/cli.sh': bad,
      'tools/empty/notes.txt': 'x',
      'tools/config.yaml': 'colour: red\n',
      'tools/types.d.ts': 'export {}',
    })
    await use(folder, (reg) => {
      expect(names(reg)).toEqual([])
      expect(withoutSlow(reg.problems())).toEqual([])
    })
    expect(existsSync(join(folder, 'tools', 'marks'))).toBe(false)
  })

  test('[6.companion-yaml] a YAML file beside a script speaks for it, also a broken one; one that is no manifest does not', async () => {
    const folder = write(makeFolder(), {
      'tools/said.yaml': 'name: other_name\ncommand: bash\nentry: said.sh\n',
      'tools/said.sh': `${SIMPLE}echo "$1"`,
      'tools/broken.yaml': 'name: a\nname: b\n',
      'tools/broken.sh': `${SIMPLE}echo "$1"`,
      'tools/plain.yaml': 'colour: red\n',
      'tools/plain.sh': `${SIMPLE}echo "$1"`,
      'tools/inside.sh': `#!/bin/sh\n${TOLD('inner')}echo '{"said": "inner"}'`,
    })
    await use(folder, async (reg) => {
      expect(names(reg)).toEqual(['tools.inner', 'tools.other_name', 'tools.plain'])
      expect(withoutSlow(reg.problems())).toMatchObject([
        {
          reason: 'yaml',
          message: expect.stringContaining("broken.yaml:2 has the key 'name' twice"),
          severity: 'error',
          fix: expect.stringMatching(/./),
        },
      ])
      expect(await reg.call('inner', {})).toMatchObject({ ok: true, result: { said: 'inner' } })
    })
  })

  test('[6.orchestration-manifest] [6.error-codes] entries by preference, a Python of its own, error codes of the registry, and manifests without a program', async () => {
    const tool =
      'import json, sys\nprint(json.dumps({"file": __file__.split("/")[-1], "python": sys.executable}))\n'
    const folder = write(makeFolder(), {
      'tools/mover/main.py': tool,
      'tools/mover/cli.py': tool,
      'tools/registry/mover/tool.yaml': 'name: mover\nversion: 2.0.0\n',
      'tools/failing/main.sh': `echo '{"error": {"code": "E_MY_THING", "message": "own words"}}'; exit 1`,
      'tools/registry/failing/tool.yaml': 'name: failing\n',
      'tools/registry/gone/tool.yaml': 'name: gone\nentry: cli.py\n',
      'tools/registry/bare/tool.yaml': 'name: bare\n',
      'tools/registry/error_codes.yaml':
        'version: 1\ncodes:\n  E_MY_THING: {class: retryable, retryable: true}\n',
      'tools/own/tool.yaml': 'name: own\nentry: cli.sh\ninputs: []\n',
      'tools/own/cli.sh': 'echo "{}"',
    })
    mkdirSync(join(folder, 'tools', 'mover', 'venv', 'bin'), { recursive: true })
    writeFileSync(
      join(folder, 'tools', 'mover', 'venv', 'bin', 'python'),
      '#!/bin/sh\nexec python3 "$@"\n',
      { mode: 0o755 },
    )
    await use(folder, async (reg) => {
      expect(names(reg)).toEqual(['tools.failing', 'tools.mover', 'tools.own'])
      expect(reasons(reg)).toEqual({
        'registry/gone/tool.yaml': 'missing',
        'registry/bare/tool.yaml': 'missing',
      })
      expect(await reg.call('mover', {})).toMatchObject({
        ok: true,
        result: { file: 'cli.py' },
        meta: { version: '2.0.0' },
      })
      expect((await reg.describe('mover')).manifest.errors).toEqual({
        E_MY_THING: {
          category: 'runtime',
          message: 'My thing',
          retryable: true,
          recoverable: false,
        },
      })
      expect(await reg.call('failing', {})).toMatchObject({
        ok: false,
        error: { code: 'E_MY_THING', message: 'own words', retryable: true },
      })
    })
  })

  test('several tools of one program have its name, candidates that are none have a reason and a fix', async () => {
    const folder = write(makeFolder(), {
      'tools/kit.sh': `#!/bin/sh\n# toolable: {"call": "json", "tools": [{"name": "one"}, {"name": "two"}]}\necho "{\\"tool\\": \\"$1\\"}"`,
      'tools/crashes.py': 'import no_such_module_at_all\n',
      'tools/talks.sh': 'echo hello',
      'tools/mod.ts': 'export const a = 1',
      'tools/half.sh': '# toolable: {"name": \necho',
    })
    await use(folder, async (reg) => {
      expect(names(reg)).toEqual(['kit.one', 'kit.two'])
      expect(await reg.call('two', {})).toMatchObject({ ok: true, result: { tool: 'two' } })
      expect(reasons(reg)).toMatchObject({
        'talks.sh': 'not-json',
        'mod.ts': 'typescript',
        'half.sh': 'manifest',
      })
      expect(Object.keys(reasons(reg))).toHaveLength(4)
      for (const { fix, message } of reg.problems())
        expect([fix, message]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)])
    })
  })

  test('[6.discover-documents] resources and prompts of an executable are read and rendered by it', async () => {
    const found = {
      name: 'notes',
      version: '1.0.0',
      tools: [{ name: 'count', summary: 'Counts' }],
      resources: [
        { uri_pattern: 'notes://{id}', summary: 'A note', mime_types: ['text/plain'], tags: [] },
      ],
      prompts: [{ name: 'sum_up', summary: 'Sums up', arguments: { about: 'What' }, tags: [] }],
    }
    const folder = write(makeFolder(), {
      'tools/notes': `#!/bin/sh\ncase "$1" in\n--discover) echo '${JSON.stringify(found)}';;\n--resource) [ "$2" = notes://7 ] && echo '"note seven"' || { echo '{"status": "error", "error": {"code": "NOT_FOUND", "message": "no note", "recoverable": true}}'; };;\n--prompt) echo "\\"$2 $3\\"" | sed 's/{"/(/; s/":"/ /; s/"}/)/';;\n*) echo '{"status": "success", "result": 1}';;\nesac\n`,
    })
    await use(folder, async (reg) => {
      expect(reg.list()).toMatchObject([
        { id: 'tools.count', tier: 'executable', kind: 'toolable executable' },
      ])
      expect(await reg.readResource('notes://7')).toMatchObject({ ok: true, result: 'note seven' })
      expect(await reg.readResource('notes://8')).toMatchObject({
        ok: false,
        error: { code: 'NOT_FOUND', message: 'no note' },
      })
      expect(await reg.renderPrompt('sum_up', { about: 'x' })).toMatchObject({
        ok: true,
        result: expect.anything(),
      })
    })
  })

  test('a folder that is missing, or is a file, is a problem', async () => {
    const folder = write(makeFolder(), { tools: 'a file' })
    await use(folder, (reg) =>
      expect(withoutSlow(reg.problems())).toMatchObject([{ reason: 'not-a-folder' }]),
    )
    await use(
      folder,
      (reg) =>
        expect(withoutSlow(reg.problems())).toMatchObject([
          { reason: 'missing', fix: expect.stringContaining('mkdir') },
        ]),
      { path: 'none' },
    )
  })
})

describe('[6.entry-confined] an entry stays in its folder', () => {
  const EVIL = 'touch "$(dirname "$0")/evil-ran"; echo "{}"'
  test('whatever a manifest or a link says', async () => {
    const folder = write(makeFolder(), {
      'outside.sh': EVIL,
      'tools-evil/x.sh': EVIL,
      'tools/ok.sh': 'echo "{}"',
    })
    const entries = [
      '../outside.sh',
      '../tools-evil/x.sh',
      join(folder, 'outside.sh'),
      join(folder, 'tools-evil', 'x.sh'),
      '/bin/sh',
      'tools/../../outside.sh',
      './../outside.sh',
      '..',
      'tools/..',
      '..\\\\outside.sh',
      'a/../../outside.sh',
      'ok.sh\\0/../x',
      'linked.sh',
      'linked/x.sh',
      '%2e%2e/outside.sh',
      '~/outside.sh',
      'outside.sh',
      '.',
      'tools',
      `${'a/'.repeat(3000)}x.sh`,
    ]
    symlinkSync(join(folder, 'outside.sh'), join(folder, 'tools', 'linked.sh'))
    symlinkSync(join(folder, 'tools-evil'), join(folder, 'tools', 'linked'))
    symlinkSync(join(folder, 'tools-evil'), join(folder, 'tools', 'also'))
    entries.forEach((entry, index) =>
      writeFileSync(
        join(folder, 'tools', `m${index}.yaml`),
        `name: m${index}\ncommand: bash\nentry: "${entry}"\n`,
      ),
    )
    writeFileSync(
      join(folder, 'tools', 'good.yaml'),
      'name: good\ncommand: bash\nentry: tools/ok.sh\n',
    )
    writeFileSync(
      join(folder, 'tools', 'absolute.yaml'),
      `name: absolute\ncommand: bash\nentry: ${join(folder, 'tools', 'ok.sh')}\n`,
    )
    await use(folder, async (reg) => {
      expect(names(reg)).toEqual(['tools.absolute', 'tools.good'])
      expect(reg.problems().filter(({ location }) => /\/m\d+\.yaml$/.test(location))).toHaveLength(
        entries.length,
      )
      expect(new Set(Object.values(reasons(reg)))).toEqual(new Set(['outside', 'missing']))
      expect(reasons(reg)).toMatchObject({
        'm0.yaml': 'outside',
        'm1.yaml': 'outside',
        'm4.yaml': 'outside',
        'm12.yaml': 'outside',
        'm13.yaml': 'outside',
        'linked.sh': 'outside',
        also: 'outside',
      })
      expect(await reg.call('good', {})).toMatchObject({ ok: true })
    })
    expect([
      existsSync(join(folder, 'evil-ran')),
      existsSync(join(folder, 'tools-evil', 'evil-ran')),
    ]).toEqual([false, false])
  })

  test('[6.change-noticed] a file that is swapped or changed after it was found is not run, and told to look again', async () => {
    const folder = write(makeFolder(), {
      'outside.sh': EVIL,
      'tools/a.sh': `#!/bin/sh\n${TOLD('a')}echo '{"was": 1}'`,
      'tools/b.sh': `#!/bin/sh\n${TOLD('b')}echo '{"was": 1}'`,
    })
    await use(folder, async (reg) => {
      renameSync(join(folder, 'tools', 'a.sh'), join(folder, 'tools', 'old'))
      symlinkSync(join(folder, 'outside.sh'), join(folder, 'tools', 'a.sh'))
      expect(await reg.call('a', {})).toMatchObject({
        ok: false,
        error: { code: 'PRECONDITION', suggestion: { fix: expect.stringContaining('rescan') } },
      })
      expect(existsSync(join(folder, 'evil-ran'))).toBe(false)
      utimesSync(join(folder, 'tools', 'b.sh'), 1, 1)
      expect(await reg.call('b', {})).toMatchObject({ ok: true, result: { was: 1 } })
      write(folder, { 'tools/b.sh': `#!/bin/sh\n${TOLD('b')}echo '{"was": 2}'` })
      expect(await reg.call('b', {})).toMatchObject({
        ok: false,
        error: { code: 'PRECONDITION', message: expect.stringContaining('b.sh has changed') },
      })
      await reg.rescan()
      expect(await reg.call('b', {})).toMatchObject({ ok: true, result: { was: 2 } })
      rmSync(join(folder, 'tools', 'b.sh'))
      expect(await reg.call('b', {})).toMatchObject({ ok: false })
    })
  })

  test('[6.entry-confined] the program of a manifest that becomes a link out of the folder is not run', async () => {
    const folder = write(makeFolder(), {
      'outside.sh': EVIL,
      'tools/m.yaml': 'name: m\ncommand: bash\nentry: m.sh\n',
      'tools/m.sh': `echo '{"was": 1}'`,
    })
    await use(folder, async (reg) => {
      expect(await reg.call('m', {})).toMatchObject({ ok: true })
      write(folder, { 'tools/m.sh': `echo '{"was": 2}'` })
      expect(await reg.call('m', {})).toMatchObject({ ok: true, result: { was: 2 } })
      rmSync(join(folder, 'tools', 'm.sh'))
      symlinkSync(join(folder, 'outside.sh'), join(folder, 'tools', 'm.sh'))
      expect(await reg.call('m', {})).toMatchObject({
        ok: false,
        error: {
          code: 'PRECONDITION',
          message: 'the program of m.yaml is not in its folder any more',
        },
      })
      expect(existsSync(join(folder, 'evil-ran'))).toBe(false)
    })
  })
})

describe('[6.folder-cache] what was found is remembered by file', () => {
  // A sandbox lets nobody count how often it was asked, so these tell when.
  const clock = (name: string) =>
    `#!/bin/sh\nif [ "$1" = '{"__test__": true}' ]; then echo '{"success": true, "_simple": true}'; exit; fi\nif [ "$1" = --fractalic-dump-schema ]; then echo "{\\"description\\": \\"${name} asked at $(date +%s%N)\\", \\"parameters\\": {\\"type\\": \\"object\\"}}"; exit; fi\necho "{}"\n`
  const summaries = (reg: Registry): { readonly [name: string]: string } =>
    Object.fromEntries(reg.list().map(({ name, summary }) => [name, summary]))

  test('only what changed is asked again, what is gone disappears, and touching is not changing', async () => {
    const folder = write(makeFolder(), {
      'tools/a.sh': clock('a'),
      'tools/b.sh': clock('b'),
      'tools/c.sh': clock('c'),
      'tools/no.sh': 'echo hello',
      'tools/y.yaml': 'name: y\ncommand: exec\nentry: c.sh\n',
    })
    const first = await use(folder, summaries)
    expect(Object.keys(first)).toEqual(['y', 'a', 'b'])
    expect(statSync(cacheOf(folder)).mode & 0o777).toBe(0o600)
    expect(await use(folder, summaries)).toEqual(first)
    const before = statSync(cacheOf(folder)).ino
    await use(folder, summaries)
    expect(statSync(cacheOf(folder)).ino).toBe(before)

    utimesSync(join(folder, 'tools', 'a.sh'), 1, 1)
    rmSync(join(folder, 'tools', 'no.sh'))
    write(folder, { 'tools/b.sh': `${clock('b')}# changed\n` })
    const reg = await open(folder)
    const third = summaries(reg)
    expect([third['a'], third['y']]).toEqual([first['a'], first['y']])
    expect(third['b']).toMatch(/^b asked at/)
    expect(third['b']).not.toBe(first['b'])
    expect(withoutSlow(reg.problems())).toEqual([])
    expect(readFileSync(cacheOf(folder), 'utf8')).not.toContain('no.sh')

    write(folder, { 'tools/b.sh': clock('b'), 'tools/d.sh': clock('d') })
    rmSync(join(folder, 'tools', 'a.sh'))
    await reg.rescan()
    expect(Object.keys(summaries(reg))).toEqual(['y', 'b', 'd'])
    const d = summaries(reg)['d']
    await reg.rescan({ fresh: true })
    expect(summaries(reg)['d']).not.toBe(d)
    await reg.close()
  })

  test('a cache that is torn, foreign, hostile, old, a link or not ours is ignored and written anew', async () => {
    const folder = write(makeFolder(), {
      'tools/a.sh': `#!/bin/sh\n${TOLD('a')}echo '{"real": true}'`,
    })
    await use(folder, names)
    const file = cacheOf(folder)
    const good = readFileSync(file, 'utf8')
    const [header, line] = good.split('\n') as [string, string]
    const hostile = line.replace(JSON.stringify(join(folder, 'tools', 'a.sh')), '"/bin/echo"')
    const bodyless = line.slice(0, line.indexOf('\t'))
    const bad = [
      '',
      'garbage',
      good.slice(0, -20),
      `${header}\n${bodyless}\n`,
      `${header}\n[]\t{}\n`,
      `${header}\n${'{"a":'.repeat(5000)}\t\n`,
      good.replace('"0.1.0"', '"0.0.1"'),
      good.replace(join(folder, 'tools'), '/elsewhere'),
      `${header.replace(/,\d+,1\]$/, ',1,1]')}\n${hostile}\n`,
      `${header}\n${line.replace('"is":"tools"', '"is":"weird"')}\n`,
      `${header}\n${line.replace(/"tools":\[\[.*?\]\]/, '"tools":[[1,2,3]]')}\n`,
      Buffer.from([0xff, 0xfe, 0, 1]).toString('latin1'),
    ]
    for (const text of bad) {
      writeFileSync(file, text)
      await use(folder, async (reg) =>
        expect(await reg.call('a', {})).toMatchObject({ ok: true, result: { real: true } }),
      )
      expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3)
    }
    writeFileSync(file, good)
    chmodSync(file, 0o666)
    await use(folder, names)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const written = readFileSync(file, 'utf8')
    renameSync(file, join(folder, 'target'))
    symlinkSync(join(folder, 'target'), file)
    await use(folder, (reg) => expect(names(reg)).toEqual(['tools.a']))
    expect(readFileSync(join(folder, 'target'), 'utf8')).toBe(written)
    expect(statSync(file).isFile()).toBe(true)
    // A body that was damaged behind a good outline fails that tool, and says what helps.
    rmSync(file)
    writeFileSync(
      file,
      `${written.split('\n')[0]}\n${written.split('\n')[1]!.split('\t')[0]}\t{"tools":[{"name":"a"}]}\n`,
      { mode: 0o600 },
    )
    await use(folder, async (reg) =>
      expect(await reg.call('a', {})).toMatchObject({
        ok: false,
        error: { code: 'CONFIG', message: expect.stringContaining('remembered') },
      }),
    )
  })

  test('a folder that cannot be written, and two registries at once, do no harm', async () => {
    const folder = write(makeFolder(), { 'tools/a.sh': clock('a'), blocked: 'a file' })
    const reg = await registry({
      cwd: folder,
      folders: ['tools'],
      cache: join(folder, 'blocked', 'cache'),
    })
    expect(names(reg)).toEqual(['tools.a'])
    await reg.close()
    const both = await Promise.all([open(folder), open(folder), open(folder)])
    for (const each of both) expect(names(each)).toEqual(['tools.a'])
    await Promise.all(both.map((each) => each.close()))
    expect(readdirSync(join(folder, 'cache'))).toHaveLength(1)
    expect(await use(folder, names)).toEqual(['tools.a'])
  })

  test('secrets of the host are never remembered, and variables reach the tools', async () => {
    const folder = write(makeFolder(), {
      'tools/a.yaml':
        'name: a\ncommand: bash\nentry: a.sh\nenv: {TOKEN: "${A_SECRET}", PLAIN: "1"}\n',
      'tools/a.sh': 'echo "{\\"said\\": \\"$TOKEN $PLAIN $EXTRA\\"}"',
    })
    const reg = await registry({
      cwd: folder,
      folders: [{ path: 'tools', name: 'mine', env: { EXTRA: '${A_SECRET}!' } }],
      cache: join(folder, 'cache'),
      env: { PATH: process.env['PATH'], A_SECRET: 'hunter2' },
    })
    expect(names(reg)).toEqual(['mine.a'])
    expect(await reg.call('a', {})).toMatchObject({
      ok: true,
      result: { said: 'hunter2 1 hunter2!' },
    })
    await reg.close()
    expect(readFileSync(cacheOf(folder), 'utf8')).not.toContain('hunter2')
  })

  test('[6.folder-watch] a watched folder is looked at again by itself', async () => {
    const folder = write(makeFolder(), { 'tools/a.sh': `#!/bin/sh\n${TOLD('a')}echo` })
    await use(
      folder,
      async (reg) => {
        write(folder, { 'tools/b.sh': `#!/bin/sh\n${TOLD('b')}echo` })
        await expect.poll(() => names(reg)).toEqual(['tools.a', 'tools.b'])
        rmSync(join(folder, 'tools', 'a.sh'))
        await expect.poll(() => names(reg)).toEqual(['tools.b'])
      },
      { watch: true },
    )
  })
})

describe('[6.fractalic-manifest] manifests that name servers', () => {
  test('bring all tools of a server, or the one that they describe, and close what they opened', async () => {
    const { url, stop } = await listen(async (request, response) => {
      if (request.url === '/list_tools')
        return answerJson(response, [
          {
            name: 'remote',
            description: 'Far away',
            parameters: { type: 'object', properties: {} },
          },
          { name: 'other', description: 'Too' },
        ])
      return answerJson(response, { got: JSON.parse(await bodyOf(request)) as unknown })
    })
    const folder = write(makeFolder(), {
      'tools/all.yaml': `name: all\ncommand: mcp\nentry: ${url}\n`,
      'tools/one.yaml': `name: near\ndescription: The same, described here\ncommand: mcp\nentry: ${url}/call_tool\ntool: remote\nparameters: {type: object, properties: {x: {type: integer}}, required: [x]}\n`,
      'tools/none.yaml': `name: none\ncommand: mcp\nentry: ${url}\nparameters: {type: object}\n`,
      'tools/stdio.yaml': 'name: hand\ncommand: mcp\nentry: server.mjs\nargs: [here]\n',
      'tools/server.mjs': `await import(${JSON.stringify(pathToFileURL(fixture('servers/answers-plainly.mjs')).href)})`,
      'tools/evil.yaml': 'name: evil\ncommand: mcp\nentry: ../server.mjs\n',
    })
    await use(folder, async (reg) => {
      expect(reg.list().map(({ id, tier }) => [id, tier])).toEqual(
        expect.arrayContaining([
          ['all.remote', 'manifest'],
          ['all.other', 'manifest'],
          ['tools.near', 'manifest'],
          ['tools.none', 'manifest'],
          ['hand.echo', 'manifest'],
        ]),
      )
      expect(await reg.call('near', { x: 1 })).toMatchObject({
        ok: true,
        result: { got: { name: 'remote', arguments: { x: 1 } } },
      })
      expect(await reg.call('near', {})).toMatchObject({
        ok: false,
        error: { code: 'MISSING_PARAM' },
      })
      expect(await reg.call('none', {})).toMatchObject({
        ok: false,
        error: { code: 'NOT_FOUND', message: expect.stringContaining("no tool 'none'") },
      })
      expect(await reg.call('hand.echo', { text: 'x' })).toMatchObject({
        ok: true,
        result: { text: 'x' },
      })
      expect(reasons(reg)).toEqual({ 'evil.yaml': 'outside' })
    })
    await stop()
    await use(folder, async (reg) =>
      expect(await reg.call('near', { x: 1 })).toMatchObject({
        ok: false,
        error: { code: 'DEPENDENCY' },
      }),
    )
  })
})
