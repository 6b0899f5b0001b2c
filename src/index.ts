export { tool, call, isTool } from './call/tool.ts'
export type { Tool, AnyTool } from './call/tool.ts'
export type { ToolTree } from './call/collect.ts'
export type { CallOptions } from './call/options.ts'
export { createState } from './call/state/create-state.ts'
export type { StateOptions } from './call/state/create-state.ts'
export { slice, member } from './call/state/slice.ts'
export { guard, guards } from './call/guards/index.ts'
export { folderFiles } from './call/files/folder-files.ts'
export { memoryFiles } from './call/files/memory-files.ts'
export type {
  MemoryFiles,
  MemoryFilesInput,
  MemoryFilesJson,
} from './call/files/memory/memory-type.ts'
export { fileTools } from './call/files/file-tools.ts'
export type { FileToolName, FileToolsOptions } from './call/files/file-tools.ts'
export type { FilesOptions, FolderFilesOptions, MemoryFilesOptions } from './call/files/options.ts'
export { createBudget } from './call/budget.ts'
export { withStateFile, readStateFile } from './call/state-file.ts'
export type { StateFile, StateFileOptions } from './call/state-file-type.ts'
export {
  keepPlan,
  planner,
  planning,
  planningInstructions,
  planningTools,
} from './prompting/planning/index.ts'
export type { PlanningOptions } from './prompting/planning/index.ts'
export { planSlice } from './prompting/planning/plan-slice.ts'
export type { PlanKeeper } from './prompting/planning/plan-keeper.ts'
export type { StepChange } from './prompting/planning/plan-model.ts'
export type { PlanningStrategy } from './prompting/planning/strategy.ts'
export { functionTools } from './functions/make-tools.ts'
export type { LoadModule } from './functions/make-tools.ts'
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
export { toolset } from './surfaces/toolset.ts'
export type {
  ModuleToolsetOptions,
  Toolset,
  ToolsetOptions,
  ToolsetChange,
  ChangeListener,
} from './surfaces/toolset-type.ts'
export { registry } from './workflow/source/registry.ts'
export type { RegistryOptions, WorkflowItem, WorkflowsOptions } from './workflow/source/options.ts'
export type {
  Registry,
  FolderOptions,
  ModuleOptions,
  ProgramOptions,
  OpenApiOptions,
  ListedTool,
  ToolDescription,
  SourceState,
} from './registry/registry-type.ts'
export { workflows } from './workflow/host/index.ts'
export type { AnyWorkflow, Workflows, WorkflowHostOptions } from './workflow/host/workflows-type.ts'
export type { Execution, ExecutionHandle, StepError } from './workflow/engines/engine-type.ts'
export { runner } from './runner/index.ts'
export type { Runner, RunnerOptions, RunHandle, RunInput } from './runner/runner-type.ts'
export type { RunOptions } from './runner/make-request.ts'
export type { RunSummary } from './views/model/summary/summary.ts'
export type { RunEvent, RunState } from './contract/run-state.ts'
export { workflow } from './workflow/build/workflow.ts'
export type { BuiltWorkflow, BuiltWorkflowOptions } from './workflow/build/built-type.ts'
export type {
  BuiltStep,
  BuiltStepOptions,
  StepsBuilder,
  WorkflowBuilder,
} from './workflow/build/builder-type.ts'
export type { Given, Ref } from './workflow/build/ref-type.ts'
export type {
  Workflow,
  WorkflowData,
  Step as WorkflowStep,
} from './workflow/definition/workflow-type.ts'
export { agent } from './prompting/agent/agent.ts'
export type {
  Agent,
  AgentEvent,
  AgentOptions,
  AgentResult,
  AgentRunOptions,
  AgentStatus,
  ApprovalRequest,
  Approve,
} from './prompting/agent/agent-type.ts'
export type {
  AgentMessage,
  Model,
  ModelCall,
  ModelReply,
  ModelRequest,
  ModelSettings,
} from './prompting/agent/model-type.ts'
export type { AgentPrompt, RenderedAgentPrompt } from './prompting/agent/prompt-type.ts'
export { openaiModel } from './prompting/agent/models/openai/openai-model.ts'
export type { OpenAiModelOptions } from './prompting/agent/models/openai/openai-model.ts'
export { aiSdkModel } from './prompting/agent/models/ai-sdk/ai-sdk-model.ts'
export type { AiSdkLanguageModel } from './prompting/agent/models/ai-sdk/language-model.ts'
export type { McpServerConfig } from './registry/mcp/settings.ts'
export type { ToolServerOptions } from './registry/sources/tool-server.ts'
export type { Problem, Tier } from './registry/found.ts'
export type { Filter, FilterInput } from './registry/filter.ts'
export type {
  AnthropicTool,
  ExportNote,
  ExportOptions,
  GeminiTool,
  McpTool,
  OpenAiResponsesTool,
  OpenAiTool,
} from './contract/providers/forms.ts'
export type { ToolMessage } from './contract/providers/render-message.ts'
export type { Servable } from './call/servable.ts'
export { createHandler, toNode } from './surfaces/http/create-handler.ts'
export type { Handler, HandlerOptions, NodeHandler } from './surfaces/http/handler-type.ts'
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
export { section } from './prompting/sections/section.ts'
export { sections } from './prompting/sections/sections.ts'
export { skillSection } from './prompting/sections/skills/skill-section.ts'
export { toolsetSection } from './prompting/sections/toolset-section.ts'
export type {
  Section,
  SectionContext,
  SectionOptions,
  SectionVisibility,
} from './prompting/sections/section-type.ts'
export type {
  RenderedPrompt,
  RenderedTool,
  RenderOptions,
  SectionedPrompt,
  SectionsOptions,
} from './prompting/sections/prompt-type.ts'
export type { SkillSectionOptions } from './prompting/sections/skills/skill-options.ts'
export type { ToolsetSectionOptions } from './prompting/sections/toolset-section.ts'
export { ok, partial } from './define/results.ts'
export type { Reply, ReplyOptions, PartialError } from './define/results.ts'
export { content } from './define/content.ts'
export type { Completer, Completers } from './define/complete.ts'
export { protocolError } from './define/protocol-error.ts'
export { stream, session } from './define/events.ts'
export type { Stream, Session, SessionAnswer } from './define/events.ts'
export type { ToolOptions } from './define/tool-type.ts'
export { jsonSchema } from './define/schema/source.ts'
export type {
  StandardSchema,
  TypedJsonSchema,
  SchemaSource,
  LazySchema,
} from './define/schema/schema.ts'
export { fail, ToolError } from './contract/tool-error.ts'
export type { FailOptions, SuggestionInput, AnyErrorCode } from './contract/tool-error.ts'
export { ERROR_TABLE } from './contract/errors.ts'
export type {
  ErrorCode,
  ErrorCategory,
  ErrorClass,
  ErrorRow,
  DeclaredError,
} from './contract/errors.ts'
export type {
  ContentBlock,
  ContentAnnotations,
  TextContent,
  ImageContent,
  AudioContent,
  EmbeddedResource,
  ResourceLink,
} from './contract/content.ts'
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
} from './contract/outcome.ts'
export type {
  CallEvent,
  ToolEvent,
  ResultEvent,
  ToolInvokedEvent,
  Invocation,
  LogLevel,
} from './contract/events.ts'
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
} from './contract/context.ts'
export type {
  Interaction,
  InteractionOption,
  SampleRequest,
  Answerer,
  Sampler,
  Root,
  RootsProvider,
} from './contract/interaction.ts'
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
} from './contract/state.ts'
export type { FileEntry, Filesystem, FoundLine, Page, PageOptions } from './contract/filesystem.ts'
export type { Guard, GuardedCall, Refusal } from './contract/guard.ts'
export type { Budget, BudgetDimension, BudgetLimits, TokenUsage } from './contract/budget.ts'
export type { Plan, PlanStep } from './contract/plan.ts'
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
} from './contract/manifest.ts'
export type { Json, JsonSchema, JsonObject } from './contract/json.ts'
export type { Duration } from './contract/duration.ts'
