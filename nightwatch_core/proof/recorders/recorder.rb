require "json"

module NightwatchRecorder
  LOG = File.open(File.join(__dir__, "raised"), "a")
  LOG.sync = true
  WANTED = ENV["NIGHTWATCH_RAISES"].to_s
  WATCHED = ENV["NIGHTWATCH_WATCHED"].to_s.lines(chomp: true).to_h do |row|
    path, _, lines = row.rpartition(":")
    [path, lines.split(",").map(&:to_i)]
  end
  RAN = {}
  LEFT = { true => 30, false => 20 }
  SEEN = []

  def self.own?(path)
    path.start_with?("/work/") && !path.include?("/vendor/bundle/")
  end

  def self.heard(point, places)
    error = point.raised_exception
    return if SEEN.any? { |one| one.equal?(error) }
    wanted = error.class.name.to_s.split("::").last == WANTED
    frames = places.map do |one|
      [File.expand_path(one.absolute_path || one.path), one.lineno, one.label.to_s]
    end
    return unless frames.any? { |path, _, _| own?(path) } && LEFT[wanted] > 0
    LEFT[wanted] -= 1
    SEEN << error
    SEEN.shift if SEEN.size > 8
    frames = frames.first(wanted ? 120 : 8)
    values = wanted && own?(frames[0][0]) ? locals(point.binding) : []
    record = { id: "#{Process.pid}-#{LEFT.values.sum}", class: error.class.name.to_s,
               message: text(error), frames: frames, locals: values }
    LOG.write(JSON.generate(record) + "\n")
  rescue StandardError
    nil
  end

  def self.text(error)
    error.message.to_s.scrub[0, 500]
  rescue StandardError
    ""
  end

  def self.locals(binding)
    named = binding.local_variables.first(12).map do |one|
      [0, one.to_s, told(binding.local_variable_get(one))]
    end
    named + [[0, "self", told(binding.receiver)]]
  end

  def self.told(value, deep = true)
    case value
    when nil, true, false, Integer, Float, Symbol then value.inspect[0, 80]
    when String then value.scrub[0, 120].inspect
    when Module then value.name.to_s
    when Array then "[#{inner(value.first(5).map { |one| [nil, one] }, deep)}] of #{value.size}"
    when Hash then "{#{inner(value.first(8), deep)}}"
    else
      names = Kernel.instance_method(:instance_variables).bind_call(value).first(8)
      pairs = names.map { |one| [one, value.instance_variable_get(one)] }
      "<#{Kernel.instance_method(:class).bind_call(value).name} #{inner(pairs, deep)}>"
    end
  end

  def self.inner(pairs, deep)
    return "..." unless deep
    pairs.map { |key, one| "#{"#{told(key, false)}: " if key}#{told(one, false)}" }.join(", ")
  end

  def self.watch(code)
    path = File.expand_path(code.absolute_path || code.path)
    return unless WATCHED.key?(path)
    TracePoint.new(:line) do |point|
      next if !WATCHED[path].include?(point.lineno) || RAN[[path, point.lineno]]
      RAN[[path, point.lineno]] = true
      LOG.write(JSON.generate({ ran: path, line: point.lineno, test: "" }) + "\n")
    end.enable(target: code)
  rescue ArgumentError
    nil # nothing in it can be run
  end

  # no event tells of a full stack: it is seen once it is unwound, by whoever asks where it was
  module Full
    def backtrace
      NightwatchRecorder.filled(self)
      super&.first(60)
    end
  end

  def self.filled(error)
    places = error.backtrace_locations
    return if !places || places.size <= 40 || SEEN.any? { |one| one.equal?(error) }
    SEEN << error
    frames = (places.first(40) + places.drop(40).last(60)).map do |one|
      [File.expand_path(one.absolute_path || one.path), one.lineno, one.label.to_s]
    end
    record = { id: "#{Process.pid}-full#{SEEN.size}", class: "SystemStackError",
               message: text(error), frames: frames, locals: [] }
    LOG.write(JSON.generate(record) + "\n")
  end
  SystemStackError.prepend(Full) if WANTED == "SystemStackError"

  if WATCHED.empty?
    TracePoint.new(:raise) { |point| heard(point, caller_locations(1)) }.enable
  else
    TracePoint.new(:script_compiled) { |point| watch(point.instruction_sequence) }.enable
  end
end
