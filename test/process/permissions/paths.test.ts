import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { prepareInput, prepareArguments } from '../../../src/process/inputs.ts'

const path = { type: 'string', format: 'path' }
const SCHEMA = {
  type: 'object',
  properties: {
    input: path,
    output: path,
    batch_size: { type: 'integer', minimum: 1 },
    ratio: { type: 'number' },
    mode: { enum: ['fast', 'slow'] },
    dry: { type: 'boolean' },
    both: { ...path, 'x-toolable-path': { direction: 'inout' } },
    result_out: path,
    files: { type: 'array', items: path },
    note: { type: 'string' },
  },
}

let root: string
let rules: { cwd: string; workspace: string }

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'paths-')))
  rules = { cwd: join(root, 'home'), workspace: join(root, 'work') }
  for (const folder of ['home/folder', 'work', 'outside'])
    mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'home/a.json'), 'a')
  writeFileSync(join(root, 'home/folder/old.txt'), 'old')
  symlinkSync(join(root, 'home/a.json'), join(root, 'home/link.json'))
  symlinkSync('/nowhere', join(root, 'home/dangling'))
})
afterEach(() => rmSync(root, { recursive: true }))

const prepare = (...args: string[]) => prepareArguments(args, SCHEMA, rules)
const at = (...names: string[]): string => join(root, ...names)
// Absolute names of the test, without the folder that differs each time.
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(root, 'R'))

async function refusal(promise: Promise<unknown>): Promise<ToolError> {
  const error: unknown = await promise.then(
    () => {
      throw new Error('was accepted')
    },
    (thrown: unknown) => thrown,
  )
  if (!ToolError.is(error)) throw error
  return error
}

describe('declared paths among the arguments [7.run-paths]', () => {
  test.each<[string, string[], string[], string[]]>([
    ['an input', ['--input', 'a.json'], ['--input', 'R/home/a.json'], ['R/home/a.json']],
    ['an input behind =', ['--input=./a.json'], ['--input=R/home/a.json'], ['R/home/a.json']],
    [
      'a link, by where it leads',
      ['--input', 'link.json'],
      ['--input', 'R/home/a.json'],
      ['R/home/a.json'],
    ],
    ['an output', ['--output', 'new.json'], ['--output', 'R/work/.outputs/output-0/new.json'], []],
    [
      '_ and - alike',
      ['--result-out=x', '--batch_size', '3'],
      ['--result-out=R/work/.outputs/result_out-0/x', '--batch_size', '3'],
      [],
    ],
    [
      'a list',
      ['--files', 'a.json', '--files', 'folder'],
      ['--files', 'R/home/a.json', '--files', 'R/home/folder'],
      ['R/home/a.json', 'R/home/folder'],
    ],
    [
      'streams',
      ['--input', '-', '--output', '/dev/stdout'],
      ['--input', '-', '--output', '/dev/stdout'],
      [],
    ],
    ['nothing behind --', ['--', '--input', 'a.json'], ['--', '--input', 'a.json'], []],
    [
      'nothing undeclared',
      ['--other', 'a.json', 'a.json', '-x', '--note=a.json'],
      ['--other', 'a.json', 'a.json', '-x', '--note=a.json'],
      [],
    ],
    [
      'an input as JSON',
      ['{"input":"a.json","n":1}'],
      ['{"input":"R/home/a.json","n":1}'],
      ['R/home/a.json'],
    ],
  ])('%s', async (_name, args, expected, readable) => {
    const prepared = await prepare(...args)
    expect(plain({ args: prepared.args, readable: prepared.readable })).toEqual({
      args: expected,
      readable,
    })
  })

  test('by their place, where that is declared', async () => {
    const prepared = await prepareArguments(
      ['--verbose', 'word', 'a.json', '-q', 'x', 'b.json', 'rest'],
      SCHEMA,
      { ...rules, positional: ['input', 'output'] },
    )
    expect(plain(prepared.args)).toEqual([
      '--verbose',
      'word',
      'R/home/a.json',
      '-q',
      'x',
      'R/work/.outputs/output-0/b.json',
      'rest',
    ])
  })

  test.each<[string, string[], string, RegExp]>([
    ['a missing input', ['--input', 'b.json'], 'INVALID_PATH', /no file or folder 'b\.json'/],
    ['an empty path', ['--input='], 'INVALID_PATH', /is empty/],
    ['the whole machine', ['--input', '/'], 'INVALID_PATH', /machine itself/],
    ['other processes', ['--input', '/proc/self/environ'], 'INVALID_PATH', /machine itself/],
    [
      'an output without a folder',
      ['--output', 'no/where.json'],
      'INVALID_PATH',
      /there is no folder .*\/no /,
    ],
    ['an output behind a dead link', ['--output', 'dangling'], 'INVALID_PATH', /leads nowhere/],
    ['inout of what is not there', ['--both', 'b.json'], 'INVALID_PATH', /no file or folder/],
    ['no value', ['--input'], 'INVALID_INPUT', /no value behind it/],
    ['a wrong integer', ['--batch-size', 'ten'], 'INVALID_INPUT', /whole number; got "ten"/],
    ['a small integer', ['--batch-size=0'], 'INVALID_INPUT', /1 or more/],
    ['a wrong number', ['--ratio=1,5'], 'INVALID_INPUT', /a number/],
    ['a wrong choice', ['--mode=medium'], 'INVALID_INPUT', /one of fast, slow/],
    ['a wrong switch', ['--dry=maybe'], 'INVALID_INPUT', /true or false/],
  ])(
    '%s is refused before anything starts [7.run-inputs-checked]',
    async (_name, args, code, message) => {
      const error = await refusal(prepare(...args))
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
      expect(error.suggestion?.fix).toBeTruthy()
      expect(readdirSync(at('work'))).toEqual([])
    },
  )

  test('what is required has to be there, unless somebody only asks [7.run-inputs-checked]', async () => {
    const schema = { ...SCHEMA, required: ['input', 'output'] }
    expect(await refusal(prepareArguments(['--input', 'a.json'], schema, rules))).toMatchObject({
      code: 'MISSING_PARAM',
      field: 'output',
    })
    expect(await refusal(prepareArguments(['{"input":"a.json"}'], schema, rules))).toMatchObject({
      code: 'MISSING_PARAM',
      field: 'output',
    })
    expect((await prepareArguments(['--help'], schema, rules)).args).toEqual(['--help'])
    expect(
      (await prepareArguments(['check', '--now'], schema, { ...rules, free: [['check', '--now']] }))
        .args,
    ).toEqual(['check', '--now'])
  })
})

describe('outputs come to their place on success [7.run-outputs-placed]', () => {
  test('a file takes the place of the old one, with its mode, and nothing else is left there', async () => {
    const { outputs, place } = await prepare('--output', 'a.json')
    writeFileSync(outputs[0]!.staged, 'new', { mode: 0o600 })
    expect(readFileSync(at('home/a.json'), 'utf8')).toBe('a')
    expect(await place()).toEqual([{ field: 'output', path: at('home/a.json'), files: 1 }])
    expect(readFileSync(at('home/a.json'), 'utf8')).toBe('new')
    expect(lstatSync(at('home/a.json')).mode & 0o777).toBe(0o644)
    expect(readdirSync(at('home')).sort()).toEqual(['a.json', 'dangling', 'folder', 'link.json'])
  })

  test('a folder is merged, entry by entry, and is there for the tool when it is there already', async () => {
    const {
      outputs: [output],
      place,
    } = await prepare('--output', 'folder')
    mkdirSync(join(output!.staged, 'deep'))
    writeFileSync(join(output!.staged, 'deep/new.txt'), 'new')
    await place()
    expect(
      readFileSync(at('home/folder/deep/new.txt'), 'utf8') +
        readFileSync(at('home/folder/old.txt'), 'utf8'),
    ).toBe('newold')
  })

  test('what is changed is copied in, and comes back', async () => {
    const {
      outputs: [output],
      place,
    } = await prepare('--both', 'folder')
    expect(readFileSync(join(output!.staged, 'old.txt'), 'utf8')).toBe('old')
    writeFileSync(join(output!.staged, 'old.txt'), 'changed')
    expect(readFileSync(at('home/folder/old.txt'), 'utf8')).toBe('old')
    await place()
    expect(readFileSync(at('home/folder/old.txt'), 'utf8')).toBe('changed')
  })

  test('a resumed run finds what it made, at the same place', async () => {
    const first = await prepare('--output', 'new.json', '--both', 'a.json')
    writeFileSync(first.outputs[0]!.staged, 'half')
    writeFileSync(first.outputs[1]!.staged, 'changed')
    const second = await prepare('--output', 'new.json', '--both', 'a.json')
    expect(second.args).toEqual(first.args)
    expect(second.outputs.map(({ staged }) => readFileSync(staged, 'utf8'))).toEqual([
      'half',
      'changed',
    ])
  })

  test('what the tool did not make is not placed', async () => {
    const { place } = await prepare('--output', 'new.json')
    expect(await place()).toEqual([])
    expect(existsSync(at('home/new.json'))).toBe(false)
  })

  test.each<[string, (staged: string) => void]>([
    ['a planted link', (staged) => symlinkSync('/etc/passwd', staged)],
    [
      'a link in a folder, behind a good file',
      (staged) => {
        mkdirSync(staged)
        writeFileSync(join(staged, 'a'), 'good')
        symlinkSync('/etc', join(staged, 'b'))
      },
    ],
  ])('%s is refused, and nothing at all is placed', async (_name, plant) => {
    const { outputs, place } = await prepare('--output', 'new', '--result-out', 'good')
    plant(outputs[0]!.staged)
    writeFileSync(outputs[1]!.staged, 'good')
    expect(await refusal(place())).toMatchObject({
      code: 'PERMISSION',
      message: expect.stringContaining('is a link'),
    })
    expect(readdirSync(at('home')).sort()).toEqual(['a.json', 'dangling', 'folder', 'link.json'])
  })

  test('links at the target are never followed', async () => {
    symlinkSync(at('outside'), at('home/folder/out'))
    symlinkSync(at('outside/file'), at('home/folder/file'))
    const {
      outputs: [output],
      place,
    } = await prepare('--output', 'folder')
    writeFileSync(join(output!.staged, 'file'), 'mine')
    await place()
    mkdirSync(join(output!.staged, 'out'))
    writeFileSync(join(output!.staged, 'out/evil'), 'evil')
    expect(await refusal(place())).toMatchObject({
      code: 'INVALID_PATH',
      message: expect.stringContaining('a link stands'),
    })
    expect([readdirSync(at('outside')), readFileSync(at('home/folder/file'), 'utf8')]).toEqual([
      [],
      'mine',
    ])
  })

  test('a folder that became a link while the tool ran leads nowhere, whatever lies on the way to the place', async () => {
    mkdirSync(at('home/out/deep'), { recursive: true })
    const {
      outputs: [file],
      place,
    } = await prepare('--output', 'out/deep/new.json')
    const folder = await prepare('--result-out', 'out/deep')
    writeFileSync(file!.staged, 'evil')
    writeFileSync(join(folder.outputs[0]!.staged, 'new.json'), 'evil')
    mkdirSync(at('outside/deep'))
    renameSync(at('home/out'), at('home/moved'))
    symlinkSync(at('outside'), at('home/out'))
    for (const put of [place, folder.place])
      expect(await refusal(put())).toMatchObject({
        code: 'PERMISSION',
        message: expect.stringContaining(`${at('home/out')} is a link`),
      })
    expect([readdirSync(at('outside/deep')), readdirSync(at('home/moved/deep'))]).toEqual([[], []])
  })

  test('what led elsewhere in the attempt before is refused in the next', async () => {
    mkdirSync(at('home/out'))
    const known = new Map<string, string>()
    const again = () =>
      prepareArguments(
        ['--input', 'a.json', '--output', 'out/new.json', '--both', 'folder'],
        SCHEMA,
        { ...rules, known },
      )
    expect((await again()).args).toEqual((await again()).args)
    for (const [name, field] of [
      ['a.json', 'input'],
      ['out', 'output'],
      ['folder', 'both'],
    ] as const) {
      renameSync(at('home', name), at('home/moved'))
      symlinkSync(at('outside'), at('home', name))
      expect(await refusal(again())).toMatchObject({
        code: 'INVALID_PATH',
        field,
        message: expect.stringContaining(`leads to ${at('outside')}`),
      })
      rmSync(at('home', name))
      renameSync(at('home/moved'), at('home', name))
    }
  })

  test('a link that the tool left in the way of the next attempt is taken out, not followed', async () => {
    symlinkSync(at('outside'), at('work/.outputs'))
    const {
      outputs: [output],
    } = await prepare('--both', 'a.json')
    expect(plain(output!.staged)).toBe('R/work/.outputs/both-0/a.json')
    expect(readdirSync(at('outside'))).toEqual([])
  })

  test('a folder where a file stands is refused, and the other way round', async () => {
    const { outputs, place } = await prepare('--output', 'a.json')
    mkdirSync(outputs[0]!.staged)
    expect(await refusal(place())).toMatchObject({
      code: 'INVALID_PATH',
      message: expect.stringContaining('where a file stands'),
    })
  })

  test('for a tool that takes an object, the object itself comes back where it holds no path', async () => {
    const input = { batch_size: 3, files: [1] }
    expect((await prepareInput(input, SCHEMA, rules)).input).toBe(input)
    expect(
      plain(
        (
          await prepareInput(
            { files: ['a.json', 'folder'], output: 'x', other: 'a.json' },
            SCHEMA,
            rules,
          )
        ).input,
      ),
    ).toEqual({
      files: ['R/home/a.json', 'R/home/folder'],
      output: 'R/work/.outputs/output-0/x',
      other: 'a.json',
    })
  })
})
