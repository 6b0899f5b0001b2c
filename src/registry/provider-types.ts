import type { JsonObject } from '../contract/json.ts'

export type OpenAiTool = JsonObject
export type AnthropicTool = JsonObject
export type GeminiTools = JsonObject
export type McpTool = JsonObject
export type ToolMessage = JsonObject | readonly JsonObject[]
