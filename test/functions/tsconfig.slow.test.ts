import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import '../support/without-coverage.ts'
import { toolable, writeProject } from './support.ts'

const options = { module: 'esnext', moduleResolution: 'bundler' }
const folder = writeProject({
  'package.json': '{"name":"mapped","type":"module"}',
  'src/tools.ts':
    "import { shout } from '@lib/shout'\nimport { mark } from 'mark'\nimport { deep } from '@lib/deep/value'\nimport type { Size } from '@lib/size'\nexport function say(word: string, size: Size): string { return shout(word) + mark + deep + size }\n",
  'src/lib/shout.ts': 'export const shout = (text: string): string => text.toUpperCase()\n',
  'src/lib/size.ts': "export type Size = 'small' | 'large'\n",
  'src/lib/mark.ts': "export const mark = '!'\n",
  'src/other/value.ts': "export const deep = '?'\n",
  'node_modules/@acme/config/package.json': '{"name":"@acme/config","version":"1.0.0"}',
  'node_modules/@acme/config/tsconfig.json':
    '{"compilerOptions":{"paths":{"@lib/*":["${configDir}/src/lib/*"],"mark":["${configDir}/src/lib/mark.ts"],"@lib/deep/*":["${configDir}/src/other/*"]}}}',
  'bases/paths.json':
    '{"compilerOptions":{"paths":{"@lib/*":["../src/lib/*"],"mark":["../src/lib/mark"],"@lib/deep/*":["../src/other/*"],}}} // with a comment',
  'strict.json': '{"compilerOptions":{"strict":true}}',
})

function configure(config: unknown, name = 'tsconfig.json'): void {
  writeFileSync(join(folder, name), typeof config === 'string' ? config : JSON.stringify(config))
}

const say = (size: string) => toolable(['./src/tools.ts', 'say', 'hi', size], { cwd: folder })

test('paths are followed when a module runs, as the compiler reads them: extended by path, by package, by a list, and of projects that are referenced [3.functions-tsconfig]', async () => {
  for (const config of [
    { extends: './bases/paths', compilerOptions: options },
    { extends: ['@acme/config', './strict.json'], compilerOptions: options },
    { files: [], references: [{ path: './tsconfig.other.json' }, { path: './tsconfig.app.json' }] },
  ]) {
    configure(config)
    configure({ include: ['nothing.ts'] }, 'tsconfig.other.json')
    configure(
      { extends: '@acme/config/tsconfig.json', include: ['src'], compilerOptions: options },
      'tsconfig.app.json',
    )
    expect((await say('large')).json, JSON.stringify(config)).toMatchObject({ result: 'HI!?large' })
    expect((await say('medium')).json, JSON.stringify(config)).toMatchObject({
      error: { code: 'INVALID_INPUT', field: 'size' },
    })
  }
})

test('what is wrong with it is told with file and line [3.functions-tsconfig]', async () => {
  const wrong: readonly (readonly [string, string, string])[] = [
    [
      '{\n  "compilerOptions": { "strict": true,, }\n}',
      'tsconfig.json:2',
      'Property assignment expected.',
    ],
    ['{\n\n  "extends": "./nowhere.json"\n}', 'tsconfig.json:3', 'Cannot read file'],
    ['{\n  "extends": "@acme/nowhere"\n}', 'tsconfig.json:2', "File '@acme/nowhere' not found."],
    ['{\n  "extends": "./broken.json"\n}', 'broken.json:1', 'Property assignment expected.'],
  ]
  configure('{,}', 'broken.json')
  for (const [config, place, message] of wrong) {
    configure(config)
    const { status, json } = await say('large')
    expect(status).toBe(78)
    expect(json.error).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining(`${join(folder, place)}: ${message}`),
      suggestion: { fix: `Correct ${join(folder, place)}` },
    })
  }
})
