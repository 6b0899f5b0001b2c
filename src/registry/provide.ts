import { ToolError } from '../contract/tool-error.ts'
import type { CallOptions } from '../call/options.ts'
import type { Entry } from './entry.ts'
import type { AnthropicTool, GeminiTools, McpTool, OpenAiTool, ToolMessage } from './provider-types.ts'
import type { Registry } from './registry-type.ts'

type How = { readonly api?: 'chat' | 'responses'; readonly strict?: boolean }
const later = (): never => { throw new ToolError('CONFIG', 'not built yet') }
export async function toOpenAI(_entries: readonly Entry[], _how: How): Promise<readonly OpenAiTool[]> { return later() }
export async function toAnthropic(_entries: readonly Entry[]): Promise<readonly AnthropicTool[]> { return later() }
export async function toGemini(_entries: readonly Entry[]): Promise<GeminiTools> { return later() }
export async function toMcp(_entries: readonly Entry[]): Promise<readonly McpTool[]> { return later() }
export async function handleToolCall(_registry: Registry, _call: unknown, _options?: CallOptions): Promise<ToolMessage> { return later() }
