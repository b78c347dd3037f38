// The simulated HIP entry points for streams, graphs and events.
#include "tuner/sim/runtime_calls.h"

namespace headtune::sim {
namespace {

using namespace hip;

Error stream_create(Stream* stream) { return *stream = reinterpret_cast<Stream>(new SimStream), success; }
Error stream_destroy(Stream stream) {
  return guarded([&] { delete &as<SimStream>(stream); });
}
Error stream_synchronize(Stream) { return success; }

Error stream_begin_capture(Stream stream, int) {
  return guarded([&] {
    require(stream != nullptr, error_not_supported, "the null stream cannot be captured");
    require(!stream_of(stream).capturing(), error_invalid_value, "the stream is being captured already");
    stream_of(stream).begin_capture();
  });
}

Error stream_end_capture(Stream stream, Graph* graph) {
  return guarded([&] {
    require(stream_of(stream).capturing(), error_invalid_value, "the stream is not being captured");
    *graph = reinterpret_cast<Graph>(new SimGraph{stream_of(stream).end_capture()});
  });
}

Error graph_instantiate(GraphExec* exec, Graph graph, GraphNode*, char*, std::size_t) {
  return guarded([&] { *exec = reinterpret_cast<GraphExec>(new SimGraph(as<SimGraph>(graph))); });
}

Error graph_launch(GraphExec exec, Stream stream) {
  return guarded([&] {
    for (const Operation& operation : as<SimGraph>(exec).operations) submit(stream, operation);
  });
}

Error graph_exec_destroy(GraphExec exec) {
  return guarded([&] { delete &as<SimGraph>(exec); });
}
Error graph_destroy(Graph graph) {
  return guarded([&] { delete &as<SimGraph>(graph); });
}

Error event_create(Event* event) { return *event = reinterpret_cast<Event>(new SimEvent), success; }
Error event_destroy(Event event) {
  return guarded([&] { delete &as<SimEvent>(event); });
}

Error event_record(Event event, Stream stream) {
  return guarded([&] { as<SimEvent>(event).microseconds = stream_of(stream).time(device()); });
}

Error event_synchronize(Event) { return success; }

Error event_elapsed_time(float* milliseconds, Event start, Event stop) {
  return guarded([&] {
    const auto from = as<SimEvent>(start).microseconds, to = as<SimEvent>(stop).microseconds;
    require(from && to, error_invalid_handle, "an event was never recorded");
    *milliseconds = static_cast<float>((*to - *from) / 1e3);
  });
}

}  // namespace

void add_stream_calls(Api& api) {
  api.stream_create = stream_create, api.stream_destroy = stream_destroy;
  api.stream_synchronize = stream_synchronize, api.stream_begin_capture = stream_begin_capture;
  api.stream_end_capture = stream_end_capture, api.graph_instantiate = graph_instantiate;
  api.graph_launch = graph_launch, api.graph_exec_destroy = graph_exec_destroy, api.graph_destroy = graph_destroy;
  api.event_create = event_create, api.event_destroy = event_destroy, api.event_record = event_record;
  api.event_synchronize = event_synchronize, api.event_elapsed_time = event_elapsed_time;
}

}  // namespace headtune::sim
