import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ToolError } from '../../contract/tool-error.ts'
import { aiSdkModel } from '../../prompting/agent/models/ai-sdk/ai-sdk-model.ts'
import { isLanguageModel } from '../../prompting/agent/models/ai-sdk/language-model.ts'
import { openaiModel } from '../../prompting/agent/models/openai/openai-model.ts'
import type { Model } from '../../prompting/agent/model-type.ts'
import { readSecretFile } from '../../runner/secrets/read-secret-file.ts'
import type { AgentSettings } from './settings.ts'

type Where = { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined } }
type Module = { readonly [name: string]: unknown }

/** The model that the settings name. Throws CONFIG, with what to set, where there is none or it cannot be loaded, and PERMISSION for a key file that others can read. */
export async function loadModel(
  { model, baseUrl, apiKeyFile }: AgentSettings,
  { cwd, env }: Where,
): Promise<Model> {
  const wanted = model ?? env['TOOLABLE_MODEL']
  if (wanted === undefined || wanted === '')
    throw new ToolError('CONFIG', 'there is no model to work with', {
      suggestion: {
        action: 'retry_with_modified_input',
        fix: 'Say which: --model openai:gpt-5, or export TOOLABLE_MODEL=openai:gpt-5',
        example: 'toolable agent "..." --model openai:gpt-5',
        applicability: 'has_placeholders',
      },
    })
  if (/^\.{0,2}\//.test(wanted) || /\.[cm]?js$/.test(wanted))
    return modelIn(await importFile(resolve(cwd, wanted), wanted), wanted)
  const [, provider, name] = /^([^:]+):(.+)$/s.exec(wanted) ?? []
  if (provider === undefined || name === undefined)
    throw new ToolError(
      'CONFIG',
      `'${wanted.slice(0, 100)}' names no model: it takes a provider and a name`,
      { suggestion: `--model openai:${wanted.slice(0, 100)}, <package>:<name>, or ./file.mjs` },
    )
  if (provider === 'openai')
    return openaiModel({
      model: name,
      env,
      ...(baseUrl !== undefined && { baseUrl }),
      ...(apiKeyFile !== undefined && {
        apiKey: await readKey(resolve(cwd, apiKeyFile), apiKeyFile),
      }),
    })
  return aiSdkModel(modelOf(await importProvider(provider, cwd), provider, name) as never)
}

async function readKey(file: string, given: string): Promise<string> {
  const key = (await readSecretFile('the key of the model', file, 'api-key-file')).trim()
  if (key === '')
    throw new ToolError('CONFIG', `the key file '${given}' is empty`, { field: 'api-key-file' })
  return key
}

async function importFile(file: string, given: string): Promise<Module> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new ToolError('CONFIG', `there is no file '${given}' with a model`, { field: 'model' })
  try {
    return (await import(pathToFileURL(file).href)) as Module
  } catch (error) {
    throw new ToolError('CONFIG', `${given} cannot be loaded: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

async function modelIn(exported: Module, given: string): Promise<Model> {
  const found = exported['default'] ?? exported['model']
  const made: unknown =
    typeof found === 'function' && !isLanguageModel(found)
      ? await (found as () => unknown)()
      : found
  if (isLanguageModel(made)) return aiSdkModel(made)
  if (typeof (made as Partial<Model> | undefined)?.generate === 'function') return made as Model
  throw new ToolError('CONFIG', `${given} exports no model`, {
    suggestion: 'export default openaiModel({ ... }), aiSdkModel(...), or { name, generate }',
  })
}

// `anthropic` means `@ai-sdk/anthropic`; the packages are those of the project, not ours.
async function importProvider(provider: string, cwd: string): Promise<Module> {
  const names = /^[a-z0-9][\w.-]*$/i.test(provider) ? [`@ai-sdk/${provider}`, provider] : [provider]
  const near = createRequire(join(cwd, 'package.json'))
  for (const name of names) {
    let file: string
    try {
      file = near.resolve(name)
    } catch {
      continue
    }
    return importFile(file, name)
  }
  throw new ToolError(
    'CONFIG',
    `the provider package '${names[0]!.slice(0, 100)}' is not installed in ${cwd}`,
    { suggestion: `npm install ${names[0]!.slice(0, 100)}` },
  )
}

function modelOf(exported: Module, provider: string, name: string): unknown {
  const short = provider
    .split('/')
    .at(-1)!
    .replace(/[-.](\w)/g, (_all, letter: string) => letter.toUpperCase())
  const candidates = [exported[short], exported['default'], ...Object.values(exported)]
  const found = candidates.find(
    (one) =>
      typeof (one as { readonly languageModel?: unknown } | undefined)?.languageModel ===
      'function',
  )
  if (!found)
    throw new ToolError(
      'CONFIG',
      `the package '${provider}' exports no provider of the ai package`,
      { suggestion: 'Name a package such as @ai-sdk/anthropic, or a file that exports a model' },
    )
  try {
    return (found as { languageModel(name: string): unknown }).languageModel(name)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `'${provider}' has no model '${name.slice(0, 100)}': ${(error as Error).message}`,
      { cause: error },
    )
  }
}

/** The default export of a module that makes a prompt. */
export async function loadPrompt(path: string, cwd: string): Promise<unknown> {
  const exported = (await importFile(resolve(cwd, path), path))['default']
  if (typeof (exported as { readonly render?: unknown } | undefined)?.render === 'function')
    return exported
  throw new ToolError('CONFIG', `${path} exports no prompt`, {
    field: 'prompt',
    suggestion: 'export default sections({ name, sections })',
  })
}
