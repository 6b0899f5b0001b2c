export { tool, call, isTool } from './core/tool.ts'
export type { Tool, AnyTool } from './core/tool.ts'
export type { ToolTree } from './core/tool.ts'
export type { CallOptions } from './core/call.ts'
export { createState } from './core/state/state.ts'
export type { StateOptions } from './core/state/state.ts'
export { slice, member } from './core/state/state-api.ts'
export { guard, guards } from './core/guards/guards.ts'
export { folderFiles } from './core/files/files.ts'
export { memoryFiles } from './core/files/files.ts'
export type { MemoryFiles, MemoryFilesInput, MemoryFilesJson } from './core/files/memory.ts'
export { fileTools } from './core/files/file-tools.ts'
export type { FileToolName, FileToolsOptions } from './core/files/file-tools.ts'
export type { FilesOptions, FolderFilesOptions, MemoryFilesOptions } from './core/files/read.ts'
export { createBudget } from './core/budget.ts'
export { withStateFile, readStateFile } from './core/state/state-api.ts'
export type { StateFile, StateFileOptions } from './core/state/open-state-file.ts'
export {
  keepPlan,
  planner,
  planning,
  planningInstructions,
  planningTools,
} from './prompts/planning.ts'
export type { PlanningOptions } from './prompts/planning.ts'
export { planSlice } from './prompts/plan-slice.ts'
export type { PlanKeeper } from './prompts/plan.ts'
export type { StepChange } from './prompts/plan.ts'
export type { PlanningStrategy } from './prompts/plan-slice.ts'
export { functionTools } from './functions/function-tools.ts'
export type { LoadModule } from './functions/function-tools.ts'
export type {
  Conversion,
  FunctionManifest,
  FunctionParameter,
  FunctionProblem,
  ModuleManifest,
  ObjectConversion,
  ObjectField,
  TextConversion,
} from './functions/manifest.ts'
export { toolset } from './cli/toolset.ts'
export type {
  ModuleToolsetOptions,
  Toolset,
  ToolsetOptions,
  ToolsetChange,
  ChangeListener,
} from './cli/toolset-types.ts'
export { registry } from './workflow/registry.ts'
export type { RegistryOptions, WorkflowItem, WorkflowsOptions } from './workflow/workflow-types.ts'
export type {
  Registry,
  FolderOptions,
  ModuleOptions,
  ProgramOptions,
  OpenApiOptions,
  ListedTool,
  ToolDescription,
  SourceState,
} from './registry/types.ts'
export { workflows } from './workflow/workflows.ts'
export type { AnyWorkflow, Workflows, WorkflowHostOptions } from './workflow/workflow-types.ts'
export type { Execution, ExecutionHandle, StepError } from './workflow/engine.ts'
export { runner } from './runner/runner.ts'
export type { Runner, RunnerOptions, RunHandle, RunInput } from './runner/request.ts'
export type { RunOptions } from './runner/request.ts'
export type { RunSummary } from './views/model/run-summary.ts'
export type { RunEvent, RunState } from './protocol/run-state.ts'
export { workflow } from './workflow/workflow.ts'
export type { BuiltWorkflow, BuiltWorkflowOptions } from './workflow/workflow-types.ts'
export type {
  BuiltStep,
  BuiltStepOptions,
  StepsBuilder,
  WorkflowBuilder,
} from './workflow/workflow-types.ts'
export type { Given, Ref } from './workflow/builder-refs.ts'
export type { Workflow, WorkflowData, WorkflowStep } from './workflow/definition/model.ts'
export { agent } from './agent/agent.ts'
export type {
  Agent,
  AgentEvent,
  AgentOptions,
  AgentResult,
  AgentRunOptions,
  AgentStatus,
  ApprovalRequest,
  Approve,
} from './agent/types.ts'
export type {
  AgentMessage,
  Model,
  ModelCall,
  ModelReply,
  ModelRequest,
  ModelSettings,
} from './agent/types.ts'
export type { AgentPrompt, RenderedAgentPrompt } from './agent/types.ts'
export { openaiModel } from './agent/models/openai.ts'
export type { OpenAiModelOptions } from './agent/models/openai.ts'
export { aiSdkModel } from './agent/models/ai-sdk.ts'
export type { AiSdkLanguageModel } from './agent/types.ts'
export type { McpServerConfig } from './registry/mcp/transports.ts'
export type { ToolServerOptions } from './registry/sources/tool-server.ts'
export type { Problem, Tier } from './registry/source.ts'
export type { Filter, FilterInput } from './registry/filter.ts'
export type {
  AnthropicTool,
  ExportNote,
  ExportOptions,
  GeminiTool,
  McpTool,
  OpenAiResponsesTool,
  OpenAiTool,
} from './protocol/providers/export-tools.ts'
export type { ToolMessage } from './protocol/providers/tool-messages.ts'
export type { Servable } from './core/tool.ts'
export { createHandler, toNode } from './http/create-handler.ts'
export type { Handler, HandlerOptions, NodeHandler } from './http/options.ts'
export { resource } from './define/resource.ts'
export type {
  Resource,
  ResourceOptions,
  ResourceContent,
  ResourceContext,
  ListedResource,
} from './define/resource.ts'
export { prompt } from './define/prompt.ts'
export type {
  Prompt,
  PromptOptions,
  PromptMessage,
  PromptText,
  PromptContext,
} from './define/prompt.ts'
export { section } from './prompts/section.ts'
export { sections } from './prompts/sections.ts'
export { skillSection } from './prompts/skill-section.ts'
export { toolsetSection } from './prompts/section.ts'
export type {
  Section,
  SectionContext,
  SectionOptions,
  SectionVisibility,
} from './prompts/section.ts'
export type {
  RenderedPrompt,
  RenderedTool,
  RenderOptions,
  SectionedPrompt,
  SectionsOptions,
} from './prompts/section-tree.ts'
export type { SkillSectionOptions } from './prompts/section.ts'
export type { ToolsetSectionOptions } from './prompts/section.ts'
export { ok, partial } from './define/results.ts'
export type { Reply, ReplyOptions, PartialError } from './define/results.ts'
export { content } from './define/results.ts'
export type { Completer, Completers } from './define/checks.ts'
export { protocolError } from './define/protocol-error.ts'
export { stream, session } from './define/results.ts'
export type { Stream, Session, SessionAnswer } from './define/results.ts'
export type { ToolOptions } from './define/tool-types.ts'
export { jsonSchema } from './define/schema/source.ts'
export type { StandardSchema, SchemaSource, LazySchema } from './define/schema/source.ts'
export type { TypedJsonSchema } from './util/values.ts'
export { fail, ToolError } from './protocol/tool-error.ts'
export type { FailOptions, SuggestionInput, AnyErrorCode } from './protocol/tool-error.ts'
export { ERROR_TABLE } from './protocol/errors.ts'
export type {
  ErrorCode,
  ErrorCategory,
  ErrorClass,
  ErrorRow,
  DeclaredError,
} from './protocol/errors.ts'
export type {
  ContentBlock,
  ContentAnnotations,
  TextContent,
  ImageContent,
  AudioContent,
  EmbeddedResource,
  ResourceLink,
} from './protocol/outcome.ts'
export type {
  Outcome,
  SuccessOutcome,
  PartialOutcome,
  FailureOutcome,
  OutcomeMeta,
  ErrorObject,
  Suggestion,
  Artifact,
  PartialSummary,
} from './protocol/outcome.ts'
export type {
  CallEvent,
  ToolEvent,
  ResultEvent,
  ToolInvokedEvent,
  Invocation,
  LogLevel,
} from './protocol/events.ts'
export type {
  Context,
  ReadingContext,
  Ask,
  SampleOptions,
  Checkpoint,
  Deadline,
  PlannedAction,
  PromptView,
  ConfirmQuestion,
  DecisionQuestion,
  InputQuestion,
} from './protocol/context.ts'
export type {
  Interaction,
  InteractionOption,
  SampleRequest,
  Answerer,
  Sampler,
  Root,
  RootsProvider,
} from './protocol/events.ts'
export type {
  Member,
  Reducer,
  Resources,
  Slice,
  SliceView,
  Snapshotable,
  State,
  StateJson,
  StateSnapshot,
  Transactional,
  TransactionPart,
} from './protocol/state.ts'
export type { FileEntry, Filesystem, FoundLine, Page, PageOptions } from './protocol/state.ts'
export type { Guard, GuardedCall, Refusal } from './protocol/context.ts'
export type { Budget, BudgetDimension, BudgetLimits, TokenUsage } from './protocol/limits.ts'
export type { Plan, PlanStep } from './protocol/plan.ts'
export type {
  ToolManifest,
  ToolsetManifest,
  ResourceManifest,
  PromptManifest,
  PromptArgument,
  Annotations,
  Example,
  Permissions,
  FlagOptions,
  McpOptions,
} from './protocol/manifest.ts'
export type { Json, JsonSchema, JsonObject } from './util/values.ts'
export type { Duration } from './protocol/limits.ts'
