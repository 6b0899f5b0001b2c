/**
 * Model providers: which model `--model` and TOOLABLE_MODEL mean, and the settings of an agent run.
 */

import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { aiSdkModel } from '../../agent/models/ai-sdk.ts'
import type { AgentPrompt, Model, ModelProvider } from '../../agent/types.ts'
import { isAiSdkLanguageModel } from '../../agent/types.ts'
import type { BudgetLimits } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { readSecretFile } from '../../runner/secrets.ts'
import { compact } from '../../util/values.ts'
import type { CommandContext } from '../command.ts'
import type { RegistryFlags } from '../config.ts'

/**
 * The model providers that `--model <provider>:<name>` knows, besides packages of the ai package. A
 * new one is a file in src/agent/models/ that exports a ModelProvider, and one line here.
 */
export const MODEL_PROVIDERS: { readonly [provider: string]: ModelProvider } = {
  openai: async (options) => (await import('../../agent/models/openai.ts')).openaiModel(options),
}

/** The provider of the table that a model names: `openai` for `openai:gpt-5`. */
export function findModelProvider(model: string): ModelProvider | undefined {
  const [name = ''] = model.split(':', 1)
  return name !== model && Object.hasOwn(MODEL_PROVIDERS, name) ? MODEL_PROVIDERS[name] : undefined
}

type ImportedModule = { readonly [name: string]: unknown }

/**
 * The model that the settings name. Throws CONFIG, with what to set, where there is none or it
 * cannot be loaded, and PERMISSION for a key file that others can read.
 */
export async function loadModel(
  { model, baseUrl, apiKeyFile }: AgentSettings,
  { cwd, env }: CommandContext,
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
    return getExportedModel(await importFile(resolve(cwd, wanted), wanted), wanted)
  const [, provider, name] = /^([^:]+):(.+)$/s.exec(wanted) ?? []
  if (provider === undefined || name === undefined)
    throw new ToolError(
      'CONFIG',
      `'${wanted.slice(0, 100)}' names no model: it takes a provider and a name`,
      { suggestion: `--model openai:${wanted.slice(0, 100)}, <package>:<name>, or ./file.mjs` },
    )
  const create = findModelProvider(wanted)
  if (!create) return loadPackageModel(provider, name, cwd)
  const apiKey =
    apiKeyFile === undefined ? undefined : await readKeyFile(resolve(cwd, apiKeyFile), apiKeyFile)
  return create(compact({ model: name, env, baseUrl, apiKey }))
}

async function readKeyFile(file: string, given: string): Promise<string> {
  const key = (await readSecretFile('the key of the model', file, 'api-key-file')).trim()
  if (key === '')
    throw new ToolError('CONFIG', `the key file '${given}' is empty`, { field: 'api-key-file' })
  return key
}

async function importFile(file: string, given: string): Promise<ImportedModule> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new ToolError('CONFIG', `there is no file '${given}' with a model`, { field: 'model' })
  try {
    return (await import(pathToFileURL(file).href)) as ImportedModule
  } catch (error) {
    throw new ToolError('CONFIG', `${given} cannot be loaded: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

async function getExportedModel(exported: ImportedModule, given: string): Promise<Model> {
  const found = exported['default'] ?? exported['model']
  const made: unknown =
    typeof found === 'function' && !isAiSdkLanguageModel(found)
      ? await (found as () => unknown)()
      : found
  if (isAiSdkLanguageModel(made)) return aiSdkModel(made)
  if (typeof (made as Partial<Model> | undefined)?.generate === 'function') return made as Model
  throw new ToolError('CONFIG', `${given} exports no model`, {
    suggestion: 'export default openaiModel({ ... }), aiSdkModel(...), or { name, generate }',
  })
}

// `anthropic` means `@ai-sdk/anthropic`; the packages are those of the project, not ours.
async function loadPackageModel(provider: string, name: string, cwd: string): Promise<Model> {
  const exported = await importProvider(provider, cwd)
  const short = provider
    .split('/')
    .at(-1)!
    .replace(/[-.](\w)/g, (_all, letter: string) => letter.toUpperCase())
  const found = [exported[short], exported['default'], ...Object.values(exported)].find(
    isAiProvider,
  )
  if (!found)
    throw new ToolError(
      'CONFIG',
      `the package '${provider}' exports no provider of the ai package`,
      { suggestion: 'Name a package such as @ai-sdk/anthropic, or a file that exports a model' },
    )
  let model: unknown
  try {
    model = found.languageModel(name)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `'${provider}' has no model '${name.slice(0, 100)}': ${(error as Error).message}`,
      { cause: error },
    )
  }
  return aiSdkModel(model as never)
}

type AiProvider = { languageModel(name: string): unknown }

function isAiProvider(value: unknown): value is AiProvider {
  return typeof (value as Partial<AiProvider> | undefined)?.languageModel === 'function'
}

async function importProvider(provider: string, cwd: string): Promise<ImportedModule> {
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

/** The default export of a module that makes a prompt. */
export async function loadPrompt(path: string, cwd: string): Promise<AgentPrompt> {
  const exported = (await importFile(resolve(cwd, path), path))['default']
  if (typeof (exported as Partial<AgentPrompt> | undefined)?.render === 'function')
    return exported as AgentPrompt
  throw new ToolError('CONFIG', `${path} exports no prompt`, {
    field: 'prompt',
    suggestion: 'export default sections({ name, sections })',
  })
}

/**
 * Everything that a run of an agent is made of, as `run.json` keeps it: it holds no key, only where
 * that comes from.
 */
export type AgentSettings = {
  readonly task: string
  readonly model?: string
  readonly baseUrl?: string
  readonly apiKeyFile?: string
  readonly system?: string
  readonly prompt?: string
  readonly params?: { readonly [name: string]: unknown }
  readonly tools?: readonly string[]
  readonly maxTurns?: number
  readonly maxTotalTokens?: number
  readonly maxCalls?: number
  readonly maxOutputTokens?: number
  readonly parallel?: 'safe' | 'all' | 'none'
  /** Consent to every destructive call. */
  readonly yes?: boolean
  /** Tools plan instead of act. */
  readonly dryRun?: boolean
}

/** What the command line says. */
export type AgentFlags = AgentSettings &
  RegistryFlags & { readonly wait?: boolean; readonly detach?: boolean; readonly progress?: string }

/** The limits in it, where there are any. */
export function toBudgetLimits({
  maxTotalTokens,
  maxCalls,
}: AgentSettings): BudgetLimits | undefined {
  if (maxTotalTokens === undefined && maxCalls === undefined) return undefined
  return compact({ totalTokens: maxTotalTokens, calls: maxCalls })
}
