; Language: Dockerfile. A stage: FROM and the instructions up to the next one.

; The anchor does not step over line breaks and comments by itself.
(source_file
  (from_instruction (image_spec) @extends as: (image_alias) @name) @section
  . "\n" .
  ["\n" (comment)
     [(run_instruction) (copy_instruction) (add_instruction) (env_instruction) (arg_instruction) (workdir_instruction)
      (cmd_instruction) (entrypoint_instruction) (label_instruction) (expose_instruction) (volume_instruction)
      (user_instruction) (healthcheck_instruction) (shell_instruction) (stopsignal_instruction) (onbuild_instruction)
      (maintainer_instruction) (cross_build_instruction)] @section]*)

; A stage without a name goes by its image.
(source_file
  (from_instruction (image_spec name: (image_name) @name) !as) @section
  . "\n" .
  ["\n" (comment)
     [(run_instruction) (copy_instruction) (add_instruction) (env_instruction) (arg_instruction) (workdir_instruction)
      (cmd_instruction) (entrypoint_instruction) (label_instruction) (expose_instruction) (volume_instruction)
      (user_instruction) (healthcheck_instruction) (shell_instruction) (stopsignal_instruction) (onbuild_instruction)
      (maintainer_instruction) (cross_build_instruction)] @section]*)

(arg_instruction name: (_) @name) @constant
(env_instruction (env_pair name: (_) @name) @constant)

(comment) @comment
